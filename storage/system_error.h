// From errno to StorageError.
#pragma once

#include <string>

#include "engine/error.h"

namespace nocturne {

StorageErrorKind storageErrorKind(int systemError);
// "path: what: reason"
[[noreturn]] void throwStorageError(const std::string& path, const std::string& what,
                                    int systemError);

} // namespace nocturne
