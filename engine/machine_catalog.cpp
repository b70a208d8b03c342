#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "engine/hardware.h"
#include "engine/json_text.h"
#include "engine/machine_schema.h"
#include "engine/number_text.h"

namespace fs = std::filesystem;

namespace nocturne {

namespace {

constexpr std::string_view kHespas = "hespas/";
constexpr size_t kNamedDifferences = 4;

// hespas' names and the preset of ours that means the same machine; "" where we have none.
struct Counterpart {
  std::string_view hespas, ours;
};
constexpr std::array<Counterpart, 14> kCounterparts = {{
    {"A100_PCIe_40GB", ""},
    {"A100_PCIe_80GB", "A100_PCIe_80GB"},
    {"A100_SXM_40GB", "A100_SXM_40GB"},
    {"A100_SXM_80GB", "A100_SXM_80GB"},
    {"A40_48GB", "A40"},
    {"B200_180GB", "B200_SXM_180GB"},
    {"H100_80GB", "H100_SXM_80GB"},
    {"H200_141GB", "H200_SXM_141GB"},
    {"MI300X", "MI300X"},
    {"MI300X3D", ""},
    {"MI300X3D_HBM3_16H", ""},
    {"MI300X3D_HBM4", ""},
    {"TPUv3", "TPU_v3_chip"},
    {"V100_32GB", "V100_SXM2_32GB"},
}};

const Counterpart* findCounterpart(std::string_view name) {
  const auto* row = std::find_if(kCounterparts.begin(), kCounterparts.end(),
                                 [&](const Counterpart& c) { return c.hespas == name; });
  return row == kCounterparts.end() ? nullptr : row;
}

std::vector<std::string> stemsIn(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> stems;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json")
      stems.push_back(std::string(prefix) + it->path().stem().string());
  std::sort(stems.begin(), stems.end());
  return stems;
}

bool isFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// A preset's name is its file's, so nothing that leads out of the folder is one.
bool isPresetName(std::string_view name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Machine readMachine(const fs::path& path) {
  Json json = readJsonFile(path.string());
  Machine machine;
  try {
    machine = parseMachine(json, "");
  } catch (const UsageError& error) {
    throw UsageError(path.string() + ": " + error.what());
  }
  if (machine.name.empty())
    machine.name = path.stem().string();
  return machine;
}

void addDifference(const std::string& what, const Json& ours, const Json& theirs,
                   std::vector<std::string>& out) {
  if (ours == theirs)
    return;
  out.push_back(what + ' ' + (ours.is_null() ? "absent" : canonicalJson(ours)) +
                " (hespas: " + canonicalJson(theirs) + ')');
}

// Where our numbers are other ones than those that hespas has.
std::vector<std::string> differences(const Json& ours, const Json& theirs) {
  std::vector<std::string> out;
  for (const auto& [key, value] : theirs.items()) {
    if (!isMachineNumber(key))
      continue;
    Json own = ours.value(key, Json());
    if (key != kRateTable)
      addDifference(key, own, value, out);
    else
      for (const auto& [type, rate] : value.items())
        addDifference(type, own.is_object() ? own.value(type, Json()) : Json(), rate, out);
  }
  return out;
}

void noteDifferences(const std::string& name, const Machine& ours, const Machine& theirs,
                     std::vector<std::string>& notes) {
  std::vector<std::string> all = differences(ours.values, theirs.values);
  if (all.empty())
    return;
  std::string note = "machine " + name + ": ";
  if (ours.name != name)
    note += "taken to be " + ours.name + "; ";
  note += "its numbers are not those of hespas: ";
  for (size_t i = 0; i < std::min(all.size(), kNamedDifferences); ++i)
    note += (i == 0 ? "" : ", ") + all[i];
  if (all.size() > kNamedDifferences)
    note += " and " + std::to_string(all.size() - kNamedDifferences) + " more";
  notes.push_back(note + "; use " + std::string(kHespas) + name + " for the old ones");
}

fs::path programFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

} // namespace

MachineCatalog::MachineCatalog(std::string directory) : directory_(std::move(directory)) {}

Machine MachineCatalog::find(const std::string& nameOrPath, const std::string& base,
                             std::vector<std::string>& notes) const {
  fs::path presets = fs::path(directory_) / "hardware", old = fs::path(directory_) / "hespas";
  if (nameOrPath.ends_with(".json"))
    return readMachine(fs::path(base == "." ? "" : base) / nameOrPath);
  if (nameOrPath.starts_with(kHespas)) {
    std::string name = nameOrPath.substr(kHespas.size());
    if (isPresetName(name) && isFile(old / (name + ".json")))
      return readMachine(old / (name + ".json"));
  } else if (isPresetName(nameOrPath)) {
    const Counterpart* counterpart = findCounterpart(nameOrPath);
    fs::path oldFile = old / (nameOrPath + ".json");
    bool isOld = counterpart && isFile(oldFile);
    std::string ours(isOld ? counterpart->ours : std::string_view(nameOrPath));
    fs::path file = presets / (ours + ".json");
    if (!ours.empty() && isFile(file)) {
      Machine machine = readMachine(file);
      if (isOld)
        noteDifferences(nameOrPath, machine, readMachine(oldFile), notes);
      return machine;
    }
    if (isOld) {
      notes.push_back("machine " + nameOrPath +
                      ": there is no preset of ours; the numbers are those "
                      "of hespas");
      return readMachine(oldFile);
    }
  }
  std::vector<std::string> known = names();
  throw UsageError("there is no machine \"" + nameOrPath + '"' +
                   (known.empty() ? "; there are no presets in '" + directory_ + "'"
                                  : didYouMean(nameOrPath, known)));
}

std::vector<std::string> MachineCatalog::names() const {
  std::vector<std::string> all = stemsIn(fs::path(directory_) / "hardware", "");
  std::vector<std::string> old = stemsIn(fs::path(directory_) / "hespas", kHespas);
  all.insert(all.end(), old.begin(), old.end());
  return all;
}

std::string defaultConfigDirectory() {
  if (const char* chosen = std::getenv("NOCTURNE_CONFIGS"); chosen && *chosen)
    return chosen;
  std::error_code error;
  fs::path installed = (programFolder() / "../share/nocturne/configs").lexically_normal();
  if (fs::is_directory(installed, error))
    return installed.string();
  return NOCTURNE_CONFIG_DIR;
}

} // namespace nocturne
