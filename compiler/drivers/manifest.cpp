#include "compiler/drivers/manifest.h"

#include "engine/file_bytes.h"
#include "engine/json.h"

namespace nocturne::compiler {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr uint64_t kLongestManifest = 64 << 20;

OrderedJson argumentJson(const LibraryArgument& argument) {
  return {{"direction", argument.direction == LibraryArgument::Direction::In ? "in" : "out"},
          {"dtype", argument.dtype},
          {"rank", argument.dims.size()},
          {"dims", argument.dims},
          {"element_bytes", argument.elementBytes}};
}

OrderedJson entryJson(const LibraryEntry& entry) {
  OrderedJson arguments = OrderedJson::array();
  for (const LibraryArgument& argument : entry.arguments)
    arguments.push_back(argumentJson(argument));
  return {{"name", entry.name}, {"symbol", entry.symbol}, {"arguments", std::move(arguments)}};
}

LibraryArgument argumentFrom(const Json& json) {
  LibraryArgument argument;
  const auto direction = json.at("direction").get<std::string>();
  if (direction != "in" && direction != "out")
    throw Error("there is no direction \"" + direction + '"');
  argument.direction =
      direction == "in" ? LibraryArgument::Direction::In : LibraryArgument::Direction::Out;
  json.at("dtype").get_to(argument.dtype);
  json.at("dims").get_to(argument.dims);
  json.at("element_bytes").get_to(argument.elementBytes);
  if (json.at("rank").get<size_t>() != argument.dims.size())
    throw Error("the rank of an argument is not its number of dimensions");
  return argument;
}

LibraryEntry entryFrom(const Json& json) {
  LibraryEntry entry;
  json.at("name").get_to(entry.name);
  json.at("symbol").get_to(entry.symbol);
  for (const Json& argument : json.at("arguments"))
    entry.arguments.push_back(argumentFrom(argument));
  return entry;
}

// A folder that a manifest names is read by that name, so it must not lead elsewhere.
std::string fileNameFrom(const Json& json) {
  auto name = json.get<std::string>();
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    throw Error('"' + name + "\" is no name of a file");
  return name;
}

void checkVersion(const Json& json, const char* what, int known, const std::string& path) {
  if (!json.at(what).is_number_integer())
    throw Error(std::string(what) + " is no whole number");
  const auto version = json.at(what).get<int64_t>();
  if (version != known)
    throw StorageError(StorageErrorKind::TooNew, path + ": " + what + " version " +
                                                     std::to_string(version) + ", known is " +
                                                     std::to_string(known));
}

Manifest manifestFrom(const Json& json) {
  Manifest manifest;
  manifest.key = Digest::fromHex(json.at("key").get<std::string>());
  manifest.kind = outputKindFromString(json.at("kind").get<std::string>());
  json.at("target").get_to(manifest.target);
  json.at("generator").get_to(manifest.generator);
  json.at("linker").get_to(manifest.linker);
  json.at("flags").get_to(manifest.flags);
  for (const Json& module : json.at("modules"))
    manifest.modules.push_back(Digest::fromHex(module.get<std::string>()));
  for (const Json& entry : json.at("entries"))
    manifest.entries.push_back(entryFrom(entry));
  json.at("features").get_to(manifest.features);
  const Json& library = json.at("library");
  manifest.library = fileNameFrom(library.at("file"));
  library.at("bytes").get_to(manifest.libraryBytes);
  manifest.libraryDigest = Digest::fromHex(library.at("blake3").get<std::string>());
  for (const Json& file : json.at("files"))
    manifest.files.push_back(fileNameFrom(file));
  return manifest;
}

} // namespace

std::string toJson(const Manifest& manifest) {
  OrderedJson entries = OrderedJson::array();
  for (const LibraryEntry& entry : manifest.entries)
    entries.push_back(entryJson(entry));
  OrderedJson modules = OrderedJson::array();
  for (const Digest& module : manifest.modules)
    modules.push_back(module.hex());
  const OrderedJson json = {{"schema", kManifestSchema},
                            {"abi", kAbiVersion},
                            {"key", manifest.key.hex()},
                            {"kind", toString(manifest.kind)},
                            {"target", manifest.target},
                            {"generator", manifest.generator},
                            {"linker", manifest.linker},
                            {"flags", manifest.flags},
                            {"modules", std::move(modules)},
                            {"entries", std::move(entries)},
                            {"features", manifest.features},
                            {"library",
                             {{"file", manifest.library},
                              {"bytes", manifest.libraryBytes},
                              {"blake3", manifest.libraryDigest.hex()}}},
                            {"files", manifest.files}};
  // A module may name anything; what is no UTF-8 must not make the build fail.
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Manifest parseManifest(std::string_view text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    checkVersion(json, "schema", kManifestSchema, path);
    checkVersion(json, "abi", kAbiVersion, path);
    return manifestFrom(json);
  } catch (const StorageError&) {
    throw;
  } catch (const std::exception& problem) { // of the JSON library, or ours about a value
    throw StorageError(StorageErrorKind::Corrupt,
                       path + ": not a manifest of a build: " + problem.what());
  }
}

Manifest readManifest(const std::string& folder) {
  const std::string path = (folder + '/').append(kManifestName);
  return parseManifest(readFile(path, kLongestManifest), path);
}

} // namespace nocturne::compiler
