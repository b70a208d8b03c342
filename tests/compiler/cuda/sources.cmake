add_library(nocturne_fake_cuda SHARED ${CMAKE_CURRENT_LIST_DIR}/fake_cuda.cpp)
set_target_properties(nocturne_fake_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
list(APPEND NOCTURNE_COMPILER_TEST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/cuda_generator_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cuda_module_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cuda_target_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device_memory_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/launcher_test.cpp)
list(APPEND NOCTURNE_COMPILER_TEST_LIBS nocturne_codegen)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/launcher_test.cpp PROPERTIES
  COMPILE_DEFINITIONS NOCTURNE_TEST_FAKE_CUDA="$<TARGET_FILE:nocturne_fake_cuda>")
