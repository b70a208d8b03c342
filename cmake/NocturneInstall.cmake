# What `cmake --install` copies; included when all targets are there. The folders are fixed rather than
# those of the system's habit: the command looks for share/nocturne/configs beside its own folder, so
# that the whole can be moved.
set(nocturne_installed nocturne_estimator)
if(TARGET nocturne) # not without MLIR
  list(APPEND nocturne_installed nocturne nocturne_shared)
  set_target_properties(nocturne PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  set_target_properties(nocturne_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

# What is linked from folders that the loader does not search by itself, as LLVM's, stays in the path.
set_target_properties(${nocturne_installed} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS ${nocturne_installed} RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION share/nocturne/configs
        FILES_MATCHING PATTERN "*.json")

# What plug-ins and programs are built against: find_package(Nocturne), targets Nocturne::estimator
# and Nocturne::nocturne.
install(FILES ${PROJECT_SOURCE_DIR}/actors/standalone.h DESTINATION include/nocturne/actors)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine ${PROJECT_SOURCE_DIR}/estimators
        DESTINATION include/nocturne FILES_MATCHING PATTERN "*.h")
install(FILES ${nocturne_generated_dir}/estimators/abi.h DESTINATION include/nocturne/estimators)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/NocturneConfig.cmake DESTINATION lib/cmake/Nocturne)
