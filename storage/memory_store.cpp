// The stores that leave no file.
#include "storage/blob_codec.h"
#include "storage/result_cache.h"

namespace nocturne {

namespace {

std::string fileKey(const Digest& contentHash, const std::string& readerText) {
  return std::string(contentHash.view()) + readerText;
}

} // namespace

std::vector<std::optional<ResultRow>> MemoryResultStore::find(std::span<const Digest> keys) {
  std::vector<std::optional<ResultRow>> found(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    if (auto row = rows_.find(keys[i]); row != rows_.end())
      found[i] = row->second;
  return found;
}

void MemoryResultStore::put(std::span<const ResultRow> rows) {
  for (const ResultRow& row : rows)
    if (!row.failure || isDeterministic(*row.failure))
      rows_.try_emplace(row.key, row);
}

std::optional<FileEntry> MemoryResultStore::findFile(const Digest& contentHash,
                                                     const std::string& readerText,
                                                     bool withTable) {
  auto file = files_.find(fileKey(contentHash, readerText));
  if (file == files_.end())
    return std::nullopt;
  const FileEntry& stored = file->second;
  FileEntry entry{stored.contentHash, stored.readerText, stored.facts, {}, stored.failure};
  if (!withTable || entry.failure)
    return entry;
  if (stored.table.empty())
    return std::nullopt;
  entry.table = decodeBlob(stored.table);
  return entry;
}

void MemoryResultStore::putFile(const FileEntry& entry) {
  if (entry.failure && !isDeterministic(entry.failure->kind))
    return;
  FileEntry& stored = files_[fileKey(entry.contentHash, entry.readerText)];
  std::string table = entry.table.empty() ? std::move(stored.table) : encodeBlob(entry.table);
  stored = {entry.contentHash, entry.readerText, entry.facts, std::move(table), entry.failure};
}

std::string MemoryResultStore::findDetails(const Digest& key) {
  auto place = details_.find(key);
  return place == details_.end() ? std::string() : decodeBlob(place->second);
}

void MemoryResultStore::putDetails(const Digest& key, const std::string& text) {
  details_.try_emplace(key, encodeBlob(text));
}

std::vector<std::optional<ResultRow>> NullResultStore::find(std::span<const Digest> keys) {
  return std::vector<std::optional<ResultRow>>(keys.size());
}

} // namespace nocturne
