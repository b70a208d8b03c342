# Included by bench/CMakeLists.txt.
add_executable(estimate_bench ${CMAKE_CURRENT_LIST_DIR}/estimate_bench.cpp)
target_link_libraries(estimate_bench
  PRIVATE nocturne_flags nocturne::estimator benchmark::benchmark_main)
