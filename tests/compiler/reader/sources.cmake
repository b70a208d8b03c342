list(APPEND NOCTURNE_COMPILER_TEST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/scan_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rows_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/calls_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/branches_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/entry_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/types_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/attributes_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/liveness_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fingerprint_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/broken_input_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/mutation_test.cpp
  ${PROJECT_SOURCE_DIR}/tests/fuzz/reader_fuzz.cpp
  ${CMAKE_CURRENT_LIST_DIR}/corpus_test.cpp)
