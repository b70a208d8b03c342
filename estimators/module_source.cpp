#include "estimators/module_source.h"

#include "engine/error.h"
#include "engine/file_bytes.h"

namespace nocturne {

std::string ModuleSource::text() const {
  std::string bytes = readFile(path);
  if (hashBytes(bytes) != contentHash)
    throw ItemError({FailureKind::Unreadable, "the file changed during the run", path, 0, 0});
  return bytes;
}

} // namespace nocturne
