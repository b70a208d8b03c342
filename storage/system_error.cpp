#include "storage/system_error.h"

#include <cerrno>
#include <cstring>

namespace nocturne {

StorageErrorKind storageErrorKind(int systemError) {
  switch (systemError) {
  case ENOSPC:
  case EDQUOT:
    return StorageErrorKind::Full;
  case EACCES:
  case EPERM:
  case EROFS:
    return StorageErrorKind::ReadOnly;
  case ENOENT:
    return StorageErrorKind::Missing;
  default:
    return StorageErrorKind::Other;
  }
}

void throwStorageError(const std::string& path, const std::string& what, int systemError) {
  throw StorageError(storageErrorKind(systemError),
                     path + ": " + what + ": " + std::strerror(systemError));
}

} // namespace nocturne
