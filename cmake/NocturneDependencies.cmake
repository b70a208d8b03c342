# Third-party packages; every one of them comes from Debian 12.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED CONFIG)
find_package(SQLite3 REQUIRED)
find_package(spdlog REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(CAF 0.17 REQUIRED COMPONENTS core io)
find_package(ZLIB REQUIRED)
if(NOCTURNE_TESTS)
  find_package(doctest REQUIRED CONFIG)
endif()
if(NOCTURNE_WITH_MLIR)
  find_package(CLI11 REQUIRED CONFIG)
  # "22" alone is refused: LLVM's version file compares major.minor.
  find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir NO_DEFAULT_PATH)
  # Where it is missing, worker processes start the linker as a program: slower, with the same result.
  find_package(LLD 22.1 QUIET CONFIG PATHS /usr/lib/llvm-22/lib/cmake/lld NO_DEFAULT_PATH)
else()
  find_package(LLVM 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/llvm NO_DEFAULT_PATH)
endif()
if(NOCTURNE_BENCH)
  find_package(benchmark REQUIRED CONFIG)
endif()

separate_arguments(nocturne_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

add_library(llvm_iface INTERFACE)
target_include_directories(llvm_iface SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_options(llvm_iface INTERFACE ${nocturne_llvm_definitions})
target_link_libraries(llvm_iface INTERFACE LLVM)

if(NOCTURNE_WITH_MLIR)
  add_library(mlir_iface INTERFACE)
  target_include_directories(mlir_iface SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
  # The two shared libraries only: naming one static libMLIR*.a beside them would give two registries.
  target_link_libraries(mlir_iface INTERFACE llvm_iface MLIR)
endif()
