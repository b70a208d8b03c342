// Whether two libraries do the same.
#pragma once

#include <string>

#include "engine/digest.h"

namespace nocturne::compiler {

// Of the code and the data of a library, without what only says which build it is: its name, its
// identifiers, and the text of `key` wherever it is. Throws ItemError for a file that is no
// library.
Digest codeDigest(const std::string& library, const Digest& key);

} // namespace nocturne::compiler
