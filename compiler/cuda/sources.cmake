# Code generation for CUDA devices, part of nocturne_codegen. The launcher is what built libraries
# get, not the product: it is compiled alone, without the project's flags, and kept as bytes.
set(cuda_dir ${CMAKE_CURRENT_LIST_DIR})
set(cuda_launcher ${CMAKE_CURRENT_BINARY_DIR}/cuda_launcher.o)
add_custom_command(
  OUTPUT ${cuda_launcher}
  COMMAND ${CMAKE_C_COMPILER} -std=gnu11 -O2 -fPIC -fvisibility=hidden -fno-stack-protector
          -Wall -Wextra -Wpedantic -Werror -I${PROJECT_SOURCE_DIR}
          -c ${cuda_dir}/cuda_launcher.c -o ${cuda_launcher}
  DEPENDS ${cuda_dir}/cuda_launcher.c ${cuda_dir}/launch_plan.h
  COMMENT "Compiling the launcher of CUDA programs"
  VERBATIM)
set_source_files_properties(${cuda_dir}/embedded_launcher.cpp PROPERTIES
  OBJECT_DEPENDS ${cuda_launcher}
  COMPILE_DEFINITIONS NOCTURNE_CUDA_LAUNCHER="${cuda_launcher}"
  SKIP_PRECOMPILE_HEADERS ON)
target_sources(nocturne_codegen PRIVATE
  ${cuda_dir}/constant_bytes.cpp
  ${cuda_dir}/cuda_generator.cpp
  ${cuda_dir}/cuda_module.cpp
  ${cuda_dir}/cuda_target.cpp
  ${cuda_dir}/device_form.cpp
  ${cuda_dir}/device_memory.cpp
  ${cuda_dir}/device_tools.cpp
  ${cuda_dir}/embedded_launcher.cpp
  ${cuda_dir}/kernel.cpp
  ${cuda_dir}/planner.cpp
  ${cuda_dir}/program_image.cpp
  ${cuda_dir}/ptx.cpp)
