# Included by bench/CMakeLists.txt.
add_executable(actors_bench ${CMAKE_CURRENT_LIST_DIR}/actors_bench.cpp
               ${PROJECT_SOURCE_DIR}/tests/actors/fakes.cpp)
target_link_libraries(actors_bench PRIVATE nocturne_actors nocturne_storage nocturne_flags)
