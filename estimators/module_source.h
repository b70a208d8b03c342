// The text of a module, for estimators that hand it to another program.
#pragma once

#include <string>

#include "engine/digest.h"

namespace nocturne {

struct ModuleSource {
  std::string path;
  Digest contentHash;

  // The file's bytes. Throws ItemError when it cannot be read, or changed since it was hashed.
  std::string text() const;
};

} // namespace nocturne
