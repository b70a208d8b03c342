# Included by bench/CMakeLists.txt.
add_executable(estimate_bench ${CMAKE_CURRENT_LIST_DIR}/estimate_bench.cpp)
target_link_libraries(estimate_bench
  PRIVATE nocturne_flags nocturne::estimator benchmark::benchmark_main)

add_executable(machinery_bench ${CMAKE_CURRENT_LIST_DIR}/machinery_bench.cpp)
target_link_libraries(machinery_bench
  PRIVATE nocturne_flags nocturne::estimator benchmark::benchmark_main)
