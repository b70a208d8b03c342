// The events of a run as one counter stream: events.json.
#pragma once

#include <string>

#include "storage/run_reader.h"

namespace nocturne::tools {

// Writes the events of all items in report order, each with its module, estimator and hardware in
// its metadata. False, and no file is left, when no item has any. Throws StorageError and Error.
bool writeEvents(RunReader& reader, const std::string& path);

} // namespace nocturne::tools
