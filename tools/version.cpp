#include "tools/version.h"

namespace nocturne::tools {

std::string_view version() {
  return NOCTURNE_VERSION;
}

} // namespace nocturne::tools
