list(APPEND NOCTURNE_COMPILER_TEST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/check_calls_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check_sizes_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/entry_points_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/module_code_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/module_generator_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/optimize_sums_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/optimize_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/schedule_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/target_test.cpp)
list(APPEND NOCTURNE_COMPILER_TEST_LIBS nocturne_codegen)
