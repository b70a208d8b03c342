# Estimators may come from shared libraries that were built elsewhere. They have to agree with ours on
# every class they derive from, so the digest of all headers they can include is compared when one is
# loaded. A change of a header makes a new digest.
file(GLOB nocturne_public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/engine/*.h ${PROJECT_SOURCE_DIR}/estimators/*.h)
set(nocturne_headers_digest "")
foreach(header IN LISTS nocturne_public_headers)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
  file(SHA256 ${PROJECT_SOURCE_DIR}/${header} digest)
  string(APPEND nocturne_headers_digest "${header} ${digest}\n")
endforeach()
string(SHA256 nocturne_headers_digest "${nocturne_headers_digest}")
string(SUBSTRING ${nocturne_headers_digest} 0 16 nocturne_headers_digest)
set(nocturne_generated_dir ${PROJECT_BINARY_DIR}/generated)
configure_file(${PROJECT_SOURCE_DIR}/cmake/abi.h.in ${nocturne_generated_dir}/estimators/abi.h @ONLY)
