#include "compiler/drivers/artifacts.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <future>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/descriptor.h"
#include "engine/file_bytes.h"
#include "storage/atomic_file.h"
#include "storage/system_error.h"

namespace nocturne::compiler {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStateFolder = ".nocturne";
constexpr std::string_view kLinkDraft = "link.";
constexpr size_t kKeyLetters = 64;
constexpr size_t kMostRemembered = 1 << 16;

Descriptor opened(const std::string& path, int flags, mode_t mode = 0) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (file.get() < 0)
    throwStorageError(path, "cannot be opened", errno);
  return file;
}

void syncPath(const std::string& path, int flags) {
  const Descriptor file = opened(path, O_RDONLY | flags);
  // Some file systems cannot: EINVAL says so, and is no error.
  if (::fsync(file.get()) != 0 && errno != EINVAL)
    throwStorageError(path, "cannot be made durable", errno);
}

std::string parentOf(const std::string& path) {
  return fs::path(path).parent_path().string();
}

void removeAll(const std::string& path) {
  std::error_code ignored; // what is left is removed by the next builder
  fs::remove_all(path, ignored);
}

// A folder of that name is there, perhaps a damaged one.
void replaceFolder(const std::string& draft, const std::string& folder) {
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0)
    return;
  if (errno != EINVAL && errno != ENOSYS)
    throwStorageError(folder, "cannot be replaced", errno);
  // Without an exchange there is a moment with no folder: its readers then see none, never a mixed
  // one.
  const std::string old = draft + ".old";
  if (::rename(folder.c_str(), old.c_str()) != 0 || ::rename(draft.c_str(), folder.c_str()) != 0)
    throwStorageError(folder, "cannot be replaced", errno);
  removeAll(old);
}

std::string readLink(const std::string& path) {
  std::array<char, 256> text;
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : std::string();
}

void setLink(const ArtifactPaths& paths, const Digest& key, std::string_view file) {
  const std::string draft =
      (paths.drafts() + '/').append(kLinkDraft).append(std::to_string(::getpid())).append(file);
  const std::string link = (paths.outputDir() + '/').append(file);
  const std::string text = ArtifactPaths::linkText(key, file);
  ::unlink(draft.c_str());
  if (::symlink(text.c_str(), draft.c_str()) != 0)
    throwStorageError(draft, "cannot make this link", errno);
  if (::rename(draft.c_str(), link.c_str()) != 0) {
    const int reason = errno;
    ::unlink(draft.c_str());
    throwStorageError(link, "cannot be replaced by a link", reason);
  }
}

std::vector<std::string> namesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error))
    names.push_back(file->path().filename().string());
  return names;
}

int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

ArtifactPaths::ArtifactPaths(std::string outputDir) : outputDir_(std::move(outputDir)) {
  if (outputDir_.empty())
    throw UsageError("a build needs an output folder");
  if (outputDir_.front() != '/')
    outputDir_ = fs::absolute(outputDir_).string();
  while (outputDir_.size() > 1 && outputDir_.back() == '/')
    outputDir_.pop_back();
  state_ = (outputDir_ + '/').append(kStateFolder).append("/");
}

std::string ArtifactPaths::linkText(const Digest& key, std::string_view file) {
  return std::string(kStateFolder).append("/").append(key.hex()).append("/").append(file);
}

void ArtifactPaths::makeFolders() const {
  makeDirectories(state_ + "locks");
  makeDirectories(drafts());
}

DraftFolder::DraftFolder(const ArtifactPaths& paths, const Digest& key) {
  const std::string start = paths.drafts() + '/' + key.hex() + '.' + std::to_string(::getpid());
  for (unsigned number = 0;; ++number) {
    path_ = start + '.' + std::to_string(number);
    if (::mkdir(path_.c_str(), 0777) == 0)
      return;
    if (errno != EEXIST)
      throwStorageError(path_, "cannot make this directory", errno);
  }
}

DraftFolder::~DraftFolder() {
  removeAll(path_);
}

void DraftFolder::write(std::string_view name, std::string_view content) const {
  const std::string path = file(name);
  const Descriptor out = opened(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
  while (!content.empty()) {
    const ssize_t written = ::write(out.get(), content.data(), content.size());
    if (written < 0 && errno != EINTR)
      throwStorageError(path, "cannot be written", errno);
    if (written > 0)
      content.remove_prefix(static_cast<size_t>(written));
  }
}

// Each has to wait for the disk, which may take them all at once.
void DraftFolder::sync() const {
  std::vector<std::future<void>> files;
  for (const std::string& name : namesIn(path_))
    files.push_back(std::async([path = file(name)] { syncPath(path, O_NOFOLLOW); }));
  syncPath(path_, O_DIRECTORY);
  for (std::future<void>& file : files)
    file.get();
}

void DraftFolder::publish(const std::string& folder) const {
  // A plain rename refuses to replace a folder that has something in it.
  if (::rename(path_.c_str(), folder.c_str()) != 0) {
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
      throwStorageError(folder, "cannot be published", errno);
    replaceFolder(path_, folder);
  }
  syncPath(parentOf(folder), O_DIRECTORY);
}

void removeDeadDrafts(const ArtifactPaths& paths, const Digest& key, BuildLocks& locks) {
  for (const std::string& name : namesIn(paths.drafts())) {
    if (name.size() <= kKeyLetters || name[kKeyLetters] != '.')
      continue;
    const std::string owner = name.substr(0, kKeyLetters);
    const std::string path = (paths.drafts() + '/').append(name);
    if (owner == key.hex())
      removeAll(path);
    else if (const std::optional<BuildLocks::Held> held = locks.tryAcquire(paths.lock(owner)))
      removeAll(path);
  }
}

bool hasLinks(const ArtifactPaths& paths, const Manifest& manifest) {
  const auto leads = [&](std::string_view file) {
    return readLink((paths.outputDir() + '/').append(file)) ==
           ArtifactPaths::linkText(manifest.key, file);
  };
  return leads(manifest.library) && leads(kManifestName);
}

void setLinks(const ArtifactPaths& paths, const Manifest& manifest) {
  for (const std::string& name : namesIn(paths.drafts()))
    if (name.starts_with(kLinkDraft)) // of somebody who died holding the lock
      removeAll((paths.drafts() + '/').append(name));
  setLink(paths, manifest.key, manifest.library);
  setLink(paths, manifest.key, kManifestName);
}

std::optional<ArtifactCheck::Stamp> ArtifactCheck::stampOf(const std::string& path) {
  struct stat facts;
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return std::nullopt;
  return Stamp{facts.st_dev, facts.st_ino, static_cast<uint64_t>(facts.st_size),
               nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim)};
}

// The stamps are taken before the reading, so that a change during it shows the next time.
std::optional<ArtifactCheck::Entry> ArtifactCheck::check(const std::string& folder,
                                                         const Digest& key) {
  const std::optional<Stamp> manifestStamp = stampOf((folder + '/').append(kManifestName));
  if (!manifestStamp)
    return std::nullopt;
  try {
    Manifest manifest = readManifest(folder);
    const std::string libraryPath = folder + '/' + manifest.library;
    const std::optional<Stamp> libraryStamp = stampOf(libraryPath);
    if (!libraryStamp || manifest.key != key || libraryStamp->bytes != manifest.libraryBytes ||
        hashFile(libraryPath).contentHash != manifest.libraryDigest)
      return std::nullopt;
    return Entry{*libraryStamp, *manifestStamp,
                 std::make_shared<const Manifest>(std::move(manifest))};
  } catch (const Error&) {
    return std::nullopt; // what cannot be read is built again
  }
}

std::shared_ptr<const Manifest> ArtifactCheck::find(const std::string& folder, const Digest& key,
                                                    bool byDigest) {
  if (!byDigest) {
    Entry known;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = checked_.find(folder);
      if (found != checked_.end())
        known = found->second;
    }
    if (known.manifest && known.manifest->key == key &&
        stampOf((folder + '/').append(known.manifest->library)) == known.library &&
        stampOf((folder + '/').append(kManifestName)) == known.manifestFile)
      return known.manifest;
  }
  std::optional<Entry> entry = check(folder, key);
  const std::scoped_lock lock(mutex_);
  if (!entry) {
    checked_.erase(folder);
    return nullptr;
  }
  if (checked_.size() >= kMostRemembered)
    checked_.clear();
  return checked_.insert_or_assign(folder, std::move(*entry)).first->second.manifest;
}

void ArtifactCheck::forget(const std::string& folder) {
  const std::scoped_lock lock(mutex_);
  checked_.erase(folder);
}

} // namespace nocturne::compiler
