#include "engine/module_patterns.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

namespace fs = std::filesystem;

namespace nocturne {

namespace {

bool isModuleName(const fs::path& path) {
  return path.extension() == ".mlir" || path.extension() == ".mlirbc";
}

bool isHidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

// Matches one [...] at the front of `pattern` and removes it; a '[' without ']' is itself.
bool matchSet(std::string_view& pattern, char c) {
  size_t close = pattern.find(']', pattern.size() > 1 && pattern[1] == '!' ? 3 : 2);
  if (close == std::string_view::npos) {
    pattern.remove_prefix(1);
    return c == '[';
  }
  std::string_view set = pattern.substr(1, close - 1);
  pattern.remove_prefix(close + 1);
  bool negated = set.starts_with('!');
  if (negated)
    set.remove_prefix(1);
  auto byte = [](char x) { return static_cast<unsigned char>(x); };
  bool found = false;
  for (size_t i = 0; i < set.size(); ++i) {
    bool isRange = i + 2 < set.size() && set[i + 1] == '-';
    char last = isRange ? set[i + 2] : set[i];
    found = found || (byte(set[i]) <= byte(c) && byte(c) <= byte(last));
    if (isRange)
      i += 2;
  }
  return found != negated;
}

// Matches what is not a star at the front of `pattern` against one character.
bool matchOne(std::string_view& pattern, char c) {
  if (pattern[0] == '[')
    return matchSet(pattern, c);
  bool escaped = pattern[0] == '\\' && pattern.size() > 1;
  char wanted = pattern[escaped ? 1 : 0];
  bool matches = (!escaped && wanted == '?') || wanted == c;
  pattern.remove_prefix(escaped ? 2 : 1);
  return matches;
}

std::string withoutEscapes(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size())
      ++i;
    out += pattern[i];
  }
  return out;
}

bool isPattern(std::string_view text) {
  return text.find_first_of("*?[\\") != std::string_view::npos;
}

bool isFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Finds what a list of pattern components means below a folder.
class Walker {
public:
  explicit Walker(fs::path start) : start_(std::move(start)) {}

  std::vector<fs::path> found;
  const fs::path& start() const { return start_; }

  void walk(const fs::path& folder, std::vector<std::string>::const_iterator component,
            std::vector<std::string>::const_iterator end) {
    bool last = component + 1 == end;
    if (*component == "**")
      return walkDeep(folder, component, end);
    if (!isPattern(*component) || *component == "." || *component == "..")
      return step(folder / withoutEscapes(*component), last, component, end);
    if (!isFolder(folder.empty() ? fs::path(".") : folder))
      return;
    for (const fs::directory_entry& entry : entriesOf(folder))
      if (matchesComponent(*component, entry.path().filename().native()))
        step(folder / entry.path().filename(), last, component, end);
  }

  // All modules at any depth.
  void collect(const fs::path& folder) {
    descend(folder, [&](const fs::path& path, bool folderToo) {
      if (!folderToo && isModuleName(path))
        found.push_back(path);
    });
  }

private:
  // A folder below the start that cannot be listed stays, to fail as one module: what it hides is
  // not known, and the others are done.
  std::vector<fs::directory_entry> entriesOf(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error), end;
    for (; !error && it != end; it.increment(error))
      entries.push_back(*it);
    if (error && folder == start_)
      throw UsageError("cannot list the folder '" + folder.string() + "': " + error.message());
    if (error)
      found.push_back(folder);
    return entries;
  }

  void step(const fs::path& path, bool last, std::vector<std::string>::const_iterator component,
            std::vector<std::string>::const_iterator end) {
    if (!last)
      return walk(path, component + 1, end);
    std::error_code error;
    // A folder named like a module stays, to fail as that one module; others are not meant.
    if (fs::exists(fs::symlink_status(path, error)) && (isModuleName(path) || !isFolder(path)))
      found.push_back(path);
  }

  void walkDeep(const fs::path& folder, std::vector<std::string>::const_iterator component,
                std::vector<std::string>::const_iterator end) {
    if (!isFolder(folder.empty() ? fs::path(".") : folder))
      return;
    if (component + 1 == end)
      return descend(folder, [&](const fs::path& path, bool folderToo) {
        if (!folderToo || isModuleName(path))
          found.push_back(path);
      });
    walk(folder, component + 1, end);
    descend(folder, [&](const fs::path& path, bool folderToo) {
      if (folderToo)
        walk(path, component + 1, end);
    });
  }

  // Calls visit(path, whether it is a folder) for everything below that is not hidden. Links to
  // folders are followed, but not to one that is being walked.
  template <typename Visit>
  void descend(const fs::path& folder, const Visit& visit) {
    std::error_code error;
    fs::path real = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    if (std::find(open_.begin(), open_.end(), real) != open_.end())
      return;
    open_.push_back(real);
    for (const fs::directory_entry& entry : entriesOf(folder)) {
      if (isHidden(entry.path()))
        continue;
      fs::path path = folder / entry.path().filename();
      bool isDirectory = entry.is_directory(error);
      visit(path, isDirectory);
      if (isDirectory)
        descend(path, visit);
    }
    open_.pop_back();
  }

  const fs::path start_;
  std::vector<fs::path> open_; // real names of the folders from the start to here
};

std::vector<std::string> componentsOf(const std::string& pattern) {
  std::vector<std::string> components;
  size_t start = 0;
  while (start <= pattern.size()) {
    size_t slash = std::min(pattern.find('/', start), pattern.size());
    std::string component = pattern.substr(start, slash - start);
    // A second ** in a row means nothing more, and would walk everything again and again.
    bool repeated = component == "**" && !components.empty() && components.back() == "**";
    if (!component.empty() && !repeated)
      components.push_back(std::move(component));
    start = slash + 1;
  }
  return components;
}

std::string nameOf(const fs::path& path, const std::string& directory) {
  if (path.is_relative())
    return path.lexically_normal().generic_string();
  std::error_code error;
  fs::path base = fs::absolute(directory.empty() ? "." : directory, error).lexically_normal();
  if (!base.has_filename()) // a trailing slash
    base = base.parent_path();
  fs::path relative = path.lexically_normal().lexically_relative(base);
  return (relative.empty() ? path : relative).generic_string();
}

[[noreturn]] void throwMissing(const std::string& pattern, const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  throw UsageError("there is no file '" + pattern + "'" +
                   didYouMean(path.filename().string(), names));
}

std::vector<fs::path> findPaths(const std::string& pattern, const fs::path& base) {
  const fs::path plain = base / pattern;
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(plain, error));
  if (!exists && !isPattern(pattern))
    throwMissing(pattern, plain);
  const bool isWholeFolder = exists && isFolder(plain) && !isModuleName(plain);
  if (exists && !isWholeFolder) // also a name with brackets in it
    return {plain};
  Walker walker(isWholeFolder ? plain : fs::path(pattern).is_absolute() ? fs::path("/") : base);
  if (isWholeFolder) {
    walker.collect(plain);
  } else {
    const std::vector<std::string> components = componentsOf(pattern);
    walker.walk(walker.start(), components.begin(), components.end());
  }
  return std::move(walker.found);
}

} // namespace

bool matchesComponent(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.'))
    return false;
  // On a mismatch the last star takes one character more.
  std::string_view afterStar, nameAtStar;
  bool star = false;
  for (;;) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      afterStar = pattern;
      nameAtStar = name;
      star = true;
      continue;
    }
    if (name.empty() && pattern.empty())
      return true;
    if (!name.empty() && !pattern.empty() && matchOne(pattern, name[0])) {
      name.remove_prefix(1);
      continue;
    }
    if (!star || nameAtStar.empty())
      return false;
    nameAtStar.remove_prefix(1);
    name = nameAtStar;
    pattern = afterStar;
  }
}

std::vector<ModuleFile> expandPattern(const std::string& pattern, const std::string& directory) {
  if (pattern.empty() || pattern.find('\0') != std::string::npos)
    throw UsageError("expected a file, folder or pattern");
  fs::path base = directory == "." ? fs::path() : fs::path(directory);
  std::vector<ModuleFile> files;
  for (const fs::path& path : findPaths(pattern, base)) {
    fs::path relative =
        base.empty() || fs::path(pattern).is_absolute() ? path : path.lexically_relative(base);
    files.push_back({path.string(), nameOf(relative, directory)});
  }
  if (files.empty())
    throw UsageError("no module matches '" + pattern + "'");
  std::sort(files.begin(), files.end(),
            [](const ModuleFile& a, const ModuleFile& b) { return a.name < b.name; });
  // Two ** can find one file twice.
  files.erase(
      std::unique(files.begin(), files.end(),
                  [](const ModuleFile& a, const ModuleFile& b) { return a.name == b.name; }),
      files.end());
  return files;
}

std::vector<ModuleFile> expandModules(const std::vector<std::string>& patterns,
                                      const std::string& directory) {
  std::vector<ModuleFile> files;
  std::unordered_set<std::string> seen;
  for (const std::string& pattern : patterns)
    for (ModuleFile& file : expandPattern(pattern, directory))
      if (seen.insert(file.name).second)
        files.push_back(std::move(file));
  return files;
}

} // namespace nocturne
