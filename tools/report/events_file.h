// The events of a run as one counter stream: events.json.
#pragma once

#include <string>

#include "storage/run_reader.h"

namespace nocturne::tools {

// Writes the events of all items in report order, each with its module, estimator, hardware and
// axes in its metadata, in place of what stood there under these names. False, and no file is left,
// when no item has any. Throws StorageError and Error.
bool writeEvents(RunReader& reader, const std::string& path);

} // namespace nocturne::tools
