#include "actors/module_memo.h"

#include <barrier>
#include <latch>
#include <thread>

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

ModulePtr makeModule(const std::string& name, size_t rows = 10) {
  ModuleBuilder builder(name);
  OpInfo op;
  op.name = "add";
  for (size_t i = 0; i < rows; ++i)
    builder.add(op);
  return std::make_shared<const Module>(builder.build());
}

} // namespace

TEST_CASE("two who want the same table share one load") {
  ModuleMemo memo(1 << 20);
  Digest hash = hashBytes("m");
  std::latch loading(1);
  std::atomic<int> loads{0};
  ModulePtr one, two;
  std::jthread first([&] {
    one = memo.table(hash, [&] {
      loading.count_down();
      ++loads;
      return makeModule("m");
    });
  });
  std::jthread second([&] {
    loading.wait();
    two = memo.table(hash, [&] {
      ++loads;
      return makeModule("m");
    });
  });
  first.join();
  second.join();
  CHECK(loads == 1);
  CHECK(one == two);
  CHECK(memo.loadedTable(hash) == one);
}

TEST_CASE("a load that fails reaches its caller and is tried again") {
  ModuleMemo memo(1 << 20);
  Digest hash = hashBytes("m");
  CHECK_THROWS_AS(memo.table(hash, []() -> ModulePtr { throw Error("no"); }), Error);
  CHECK(memo.table(hash, [] { return makeModule("m"); })->name == "m");
}

TEST_CASE("tables are kept up to a number of bytes, the latest longest") {
  ModulePtr sample = makeModule("sample");
  ModuleMemo memo(3 * tableBytes(*sample));
  for (int i = 0; i < 4; ++i) {
    memo.table(hashBytes(std::to_string(i)), [] { return makeModule("m"); });
    memo.loadedTable(hashBytes("0"));
  }
  CHECK(memo.loadedTable(hashBytes("0")) != nullptr);
  CHECK(memo.loadedTable(hashBytes("1")) == nullptr);
  CHECK(memo.loadedTable(hashBytes("3")) != nullptr);
}

TEST_CASE("a table that is dropped but in use is found again") {
  ModuleMemo memo(1);
  ModulePtr used = memo.table(hashBytes("a"), [] { return makeModule("a"); });
  memo.table(hashBytes("b"), [] { return makeModule("b"); });
  CHECK(memo.loadedTable(hashBytes("a")) == used);
  memo.table(hashBytes("c"), [] { return makeModule("c"); });
  used.reset();
  CHECK(memo.loadedTable(hashBytes("a")) == nullptr);
}

TEST_CASE("facts are kept for the last files only") {
  ModuleMemo memo(1, 2);
  for (int i = 0; i < 3; ++i)
    memo.remember(hashBytes(std::to_string(i)), {});
  CHECK(memo.facts(hashBytes("0")) == nullptr);
  CHECK(memo.facts(hashBytes("2")) != nullptr);
}
