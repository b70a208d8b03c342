list(APPEND NOCTURNE_COMPILER_TEST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/check_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/element_format_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measure_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pinned_thread_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tensor_data_test.cpp)
list(APPEND NOCTURNE_COMPILER_TEST_LIBS nocturne_execution)
