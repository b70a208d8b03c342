add_executable(reader_bench ${CMAKE_CURRENT_LIST_DIR}/reader_bench.cpp)
target_link_libraries(reader_bench PRIVATE nocturne_reader nocturne_flags)
