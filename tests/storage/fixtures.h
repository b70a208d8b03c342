// Forked children and rows for the tests of storage.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/services.h"
#include "engine/sweep_plan.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::test {

// A small file system in memory, for full disks. Not there without the rights to mount one.
class SmallDisk {
public:
  SmallDisk(const std::string& mountPoint, const std::string& size);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

private:
  std::string mountPoint_;
  bool mounted_ = false;
};

// A forked child and a pipe from it. The child leaves by _exit: no destructor of the parent's
// objects runs twice.
class Child {
public:
  // `work` gets a function that tells the parent that a point is reached; its result is the exit
  // code, 99 when it throws.
  explicit Child(const std::function<int(const std::function<void()>& signal)>& work);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void awaitSignal(); // blocks until the child signals or dies
  void kill();        // SIGKILL, and waits
  int exitCode();     // waits; -1 for a child that a signal ended

private:
  int pid_ = -1, readEnd_ = -1;
};

// Runs `work` as user and group 65534, in a child; its exit code.
int asNobody(const std::function<int()>& work);
bool runsAsRoot();

// Overwrites bytes in the middle of a file.
void scribble(const std::string& path, long offset, size_t size);
bool exists(const std::string& path);
// Names in a directory that begin with a text, sorted.
std::vector<std::string> namesWith(const std::string& directory, const std::string& prefix);
// Rows of a statement's first column, through a connection of its own.
long long countRows(const std::string& database, const std::string& table);
std::string integrity(const std::string& database);
void executeSql(const std::string& database, const std::string& sql);

Digest digestOf(const std::string& text);
// Row number n, the same each time; several of them share a module.
ResultRow makeRow(uint64_t n);
std::vector<ResultRow> makeRows(uint64_t first, uint64_t count);
std::vector<Digest> keysOf(const std::vector<ResultRow>& rows);
ModuleFacts makeFacts(const std::string& content);
// Modules with these names and contents in `directory`, on points of a grid.
SweepPlan makePlan(const std::string& directory, uint64_t modules, uint64_t points);
// The shard of a module that begins at firstPoint; item 3 of each fails.
ShardRecord makeShard(const SweepPlan& plan, uint64_t module, uint64_t firstPoint, uint64_t items);

} // namespace nocturne::test
