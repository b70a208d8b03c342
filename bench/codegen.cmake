# Needs Google Benchmark; where there is none, this benchmark is not built.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  add_executable(codegen_bench ${CMAKE_CURRENT_LIST_DIR}/codegen_bench.cpp)
  target_link_libraries(codegen_bench PRIVATE
    nocturne_execution nocturne_codegen benchmark::benchmark nocturne_flags)
endif()
