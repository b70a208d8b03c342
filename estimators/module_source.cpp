#include "estimators/module_source.h"

#include <fstream>
#include <iterator>

#include "engine/error.h"

namespace nocturne {

std::string ModuleSource::text() const {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file)
    throw ItemError({FailureKind::Unreadable, "cannot read the file", path, 0, 0});
  if (hashBytes(bytes) != contentHash)
    throw ItemError({FailureKind::Unreadable, "the file changed during the run", path, 0, 0});
  return bytes;
}

} // namespace nocturne
