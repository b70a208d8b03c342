// JSON values, under the name that the project uses for them.
#pragma once

#include <nlohmann/json.hpp>

namespace nocturne {

using Json = nlohmann::json;

} // namespace nocturne
