list(APPEND NOCTURNE_COMPILER_TEST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/accept_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/dialect_fixture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/foreign_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reject_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/round_trip_test.cpp)
list(APPEND NOCTURNE_COMPILER_TEST_LIBS nocturne_dialect)
