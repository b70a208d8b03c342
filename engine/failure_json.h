// A failure as JSON: in results, and between processes. With this header any of the JSON library's
// values can be made of a Failure, and Json::get<Failure>() gives it back.
#pragma once

#include <string>

#include "engine/error.h"
#include "engine/json.h"

namespace nocturne {

template <typename AnyJson>
void to_json(AnyJson& json, const Failure& failure) {
  json = {{"kind", std::string(toString(failure.kind))},
          {"message", failure.message},
          {"file", failure.file},
          {"line", failure.line},
          {"column", failure.column}};
}

// Throws Json::exception, or Error for a kind that there is not.
inline void from_json(const Json& json, Failure& failure) {
  failure.kind = failureKindFromString(json.at("kind").get<std::string>());
  json.at("message").get_to(failure.message);
  json.at("file").get_to(failure.file);
  json.at("line").get_to(failure.line);
  json.at("column").get_to(failure.column);
}

} // namespace nocturne
