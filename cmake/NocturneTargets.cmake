# Flags and helpers shared by every target of the project.
add_library(nocturne_warnings INTERFACE)
target_compile_options(nocturne_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)

if(NOCTURNE_FUZZ)
  # libFuzzer comes with clang, which warns of other things than the compiler that we write for.
  target_compile_options(nocturne_warnings INTERFACE -Wno-error)
endif()

add_library(nocturne_flags INTERFACE)
target_link_libraries(nocturne_flags INTERFACE nocturne_warnings)
target_include_directories(nocturne_flags INTERFACE ${PROJECT_SOURCE_DIR} ${nocturne_generated_dir})
# Fused multiply-add would let the same formula give other bits on another machine.
target_compile_options(nocturne_flags INTERFACE -ffp-contract=off)
if(NOCTURNE_SANITIZE)
  # "null" is left out: CAF 0.17 binds a reference to an empty shared_ptr on each argument-less spawn.
  set(nocturne_sanitize_flags -fsanitize=${NOCTURNE_SANITIZE} -fno-omit-frame-pointer)
  if(NOCTURNE_SANITIZE MATCHES undefined)
    list(APPEND nocturne_sanitize_flags -fno-sanitize=null -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(nocturne_flags INTERFACE ${nocturne_sanitize_flags})
  target_link_options(nocturne_flags INTERFACE ${nocturne_sanitize_flags})
endif()

# nocturne_together(TARGET...) compiles the files of targets in fours, if that is wanted: the headers of
# MLIR and JSON take far longer to compile than what includes them.
function(nocturne_together)
  if(NOCTURNE_UNITY)
    set_target_properties(${ARGV} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  endif()
endfunction()

# nocturne_library(NAME SOURCES... ) declares one library of the product with the common flags.
function(nocturne_library name)
  cmake_parse_arguments(arg "SHARED" "" "SOURCES;LINK" ${ARGN})
  if(arg_SHARED)
    add_library(${name} SHARED ${arg_SOURCES})
  else()
    add_library(${name} STATIC ${arg_SOURCES})
  endif()
  target_link_libraries(${name} PUBLIC nocturne_flags ${arg_LINK})
endfunction()

# nocturne_test(NAME SOURCES... LINK... LABELS...) declares one doctest binary and its ctest entry.
function(nocturne_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp ${arg_SOURCES})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp PROPERTIES
                              SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${name} PRIVATE nocturne_flags doctest::doctest ${arg_LINK})
  # Assertions by the hundred: optimising them takes as long again as compiling, and wins nothing.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # GCC 12 sees overlapping copies in "literal" + std::string where there are none (its bug 105329).
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  target_compile_definitions(${name} PRIVATE NOCTURNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             NOCTURNE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900)
endfunction()
