# find_package(Nocturne): the targets Nocturne::estimator, for estimators of one's own as plug-ins, and
# Nocturne::nocturne, for programs that estimate files (actors/standalone.h).
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json 3.11)

get_filename_component(nocturne_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Nocturne::estimator)
  add_library(Nocturne::estimator SHARED IMPORTED)
  set_target_properties(Nocturne::estimator PROPERTIES
    IMPORTED_LOCATION "${nocturne_prefix}/lib/libnocturne_estimator.so"
    INTERFACE_INCLUDE_DIRECTORIES "${nocturne_prefix}/include/nocturne"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    # The same formula gives the same bits on every machine.
    INTERFACE_COMPILE_OPTIONS -ffp-contract=off
    INTERFACE_LINK_LIBRARIES nlohmann_json::nlohmann_json)
endif()
if(NOT TARGET Nocturne::nocturne AND EXISTS "${nocturne_prefix}/lib/libnocturne.so")
  add_library(Nocturne::nocturne SHARED IMPORTED)
  set_target_properties(Nocturne::nocturne PROPERTIES
    IMPORTED_LOCATION "${nocturne_prefix}/lib/libnocturne.so"
    INTERFACE_LINK_LIBRARIES Nocturne::estimator)
endif()
set(Nocturne_FOUND TRUE)
