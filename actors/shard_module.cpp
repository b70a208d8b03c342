#include "actors/shard_module.h"

#include <algorithm>
#include <fstream>

#include "engine/file_bytes.h"

namespace nocturne {

ShardModule::ShardModule(const WorkContext& context, const FileInfo& file)
    : context_(context), file_(file), path_(context.plan.modules[file.module].path) {
  if (!file.error.empty()) {
    learn({{}, Failure{FailureKind::Unreadable, file.error, {}, 0, 0}});
    return;
  }
  if (auto known = context.modules.facts(file.contentHash)) {
    facts_ = std::move(known);
    failure_ = facts_->failure;
    if (failure_)
      failure_->file = path_;
  }
}

void ShardModule::learn(FileFacts facts) {
  facts_ = std::make_shared<const FileFacts>(std::move(facts));
  failure_ = facts_->failure;
  if (failure_)
    failure_->file = path_;
}

void ShardModule::setEntry(FileEntry* entry) {
  if (entry == nullptr) {
    read();
    return;
  }
  learn({std::move(entry->facts), std::move(entry->failure)});
  context_.modules.remember(contentHash(), *facts_);
}

// Facts from the table that another shard has loaded, or from the file itself.
void ShardModule::read() {
  try {
    table_ = context_.modules.table(contentHash(), [this] { return parse(); });
    learn({factsOf(*table_), {}});
    context_.modules.remember(contentHash(), *facts_);
  } catch (const ItemError& error) {
    // Whoever loads the same content may have read it under another name.
    Failure failure = error.failure();
    failure.file.clear();
    learn({{}, failure});
    // A file that went away or changed while the run was at it says nothing about its content.
    if (failure.kind != FailureKind::Unreadable || !hasContent(path_, contentHash()))
      return;
    FileFacts facts{{}, failure};
    facts.facts.contentHash = contentHash();
    if (context_.cacheEnabled())
      newEntry_ = FileEntry{contentHash(), context_.readerText, facts.facts, {}, failure};
    context_.modules.remember(contentHash(), std::move(facts));
  } catch (const std::exception& error) {
    learn({{}, Failure{FailureKind::Internal, error.what(), {}, 0, 0}});
  }
}

ModulePtr ShardModule::parse() {
  ModulePtr table = context_.reader.read(path_);
  if (table->contentHash != contentHash())
    throw ItemError(
        Failure{FailureKind::Unreadable, "the file changed while the run read it", path_, 0, 0});
  if (context_.cacheEnabled())
    newEntry_ =
        FileEntry{contentHash(), context_.readerText, factsOf(*table), serialise(*table), {}};
  return table;
}

bool ShardModule::wantsTable() {
  if (table_ || failure_)
    return false;
  table_ = context_.modules.loadedTable(contentHash());
  return !table_ && context_.cacheEnabled();
}

ModulePtr ShardModule::table() {
  if (!table_)
    table_ = context_.modules.table(contentHash(), [this] { return load(); });
  return table_;
}

ModulePtr ShardModule::load() {
  ModulePtr table = fromBytes();
  return table ? table : parse();
}

// nullptr when there are no bytes or they are no table.
ModulePtr ShardModule::fromBytes() {
  if (bytes_.empty())
    return nullptr;
  std::string bytes = std::move(bytes_);
  bytes_.clear();
  try {
    auto module = std::make_shared<Module>(deserialiseModule(bytes));
    module->path = path_;
    if (!module->files.empty())
      module->files[0] = path_;
    return module;
  } catch (const Error&) {
    return nullptr;
  }
}

Failure ShardModule::placed(Failure failure, int64_t op) {
  auto [place, isNew] = places_.try_emplace(op);
  if (isNew)
    place->second = findPlace(op);
  failure.file = place->second.file;
  failure.line = place->second.line;
  failure.column = place->second.column;
  return failure;
}

Failure ShardModule::findPlace(int64_t op) {
  Failure place;
  place.file = path_;
  if (op < 0)
    return place;
  try {
    const Module& module = *table();
    auto row = std::ranges::find(module.rows, static_cast<uint32_t>(op), &OpRow::op);
    if (row == module.rows.end())
      return place;
    // File 0 is the file itself, which may have another name elsewhere.
    if (row->file > 0 && row->file < module.files.size())
      place.file = module.files[row->file];
    place.line = row->line;
    place.column = row->column;
  } catch (const std::exception&) {
    // Without its table the module still has a name.
  }
  return place;
}

} // namespace nocturne
