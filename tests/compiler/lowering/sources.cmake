list(APPEND NOCTURNE_COMPILER_TEST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/arithmetic_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/contractions_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/control_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/conversions_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/convolutions_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/indexing_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/linear_algebra_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/math_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reductions_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/shapes_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sorting_test.cpp)
list(APPEND NOCTURNE_COMPILER_TEST_LIBS nocturne_execution)
