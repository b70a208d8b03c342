// Atomic files, file locks and blobs.
#include <atomic>
#include <filesystem>
#include <thread>

#include <doctest/doctest.h>

#include "storage/atomic_file.h"
#include "storage/blob_codec.h"
#include "storage/file_lock.h"
#include "tests/storage/fixtures.h"

namespace nocturne {
namespace {

using namespace test;
using namespace std::chrono_literals;
using Mode = FileLock::Mode;

TEST_CASE("an atomic file appears complete at commit") {
  ScratchDir dir;
  writeText(dir / "f", "old");
  std::string big(300'000, 'z');
  {
    AtomicFile file(dir / "f");
    file.write("new ");
    file.write(big);
    CHECK(readText(dir / "f") == "old");
    file.commit();
    CHECK(readText(dir / "f") == "new " + big);
  }
  CHECK(namesWith(dir.path(), "").size() == 1);
}

TEST_CASE("an atomic file that is not committed leaves no trace") {
  ScratchDir dir;
  writeText(dir / "f", "old");
  {
    AtomicFile one(dir / "f"), two(dir / "f");
    one.write(std::string(300'000, 'z'));
    CHECK(namesWith(dir.path(), ".f.draft-").size() == 2);
  }
  CHECK(readText(dir / "f") == "old");
  CHECK(namesWith(dir.path(), "").size() == 1);
}

TEST_CASE("an atomic file that cannot be made says why") {
  ScratchDir dir;
  CHECK_THROWS_WITH_AS(AtomicFile(dir / "none/f"), doctest::Contains("No such file"), StorageError);
  CHECK_THROWS_WITH_AS(AtomicFile(dir.path()), doctest::Contains("not a regular file"),
                       StorageError);
  CHECK_THROWS_AS(writeFileAtomically("/dev/null", "x"), StorageError);
  writeText(dir / "f", "");
  CHECK_THROWS_AS(makeDirectories(dir / "f"), StorageError);
  CHECK_THROWS_AS(makeDirectories(dir / "f/g"), StorageError);
  CHECK_NOTHROW(makeDirectories(dir / "a/b/c"));
  CHECK_NOTHROW(makeDirectories(dir / "a/b/c"));
}

TEST_CASE("a full disk fails an atomic file and keeps the old one") {
  ScratchDir dir;
  SmallDisk disk(dir / "disk", "64k");
  if (!disk.mounted()) {
    MESSAGE("skipped: no right to mount a small disk");
    return;
  }
  writeText(dir / "disk/f", "old");
  try {
    writeFileAtomically(dir / "disk/f", std::string(1 << 20, 'x'));
    FAIL("written");
  } catch (const StorageError& error) {
    CHECK(error.kind() == StorageErrorKind::Full);
  }
  CHECK(readText(dir / "disk/f") == "old");
  CHECK(namesWith(dir / "disk", "").size() == 1);
}

TEST_CASE("an exclusive lock excludes, shared ones do not exclude each other") {
  ScratchDir dir;
  std::string path = dir / "l";
  auto shared = FileLock::tryAcquire(path, Mode::Shared);
  REQUIRE(shared);
  CHECK(FileLock::tryAcquire(path, Mode::Shared));
  CHECK_FALSE(FileLock::tryAcquire(path, Mode::Exclusive));
  shared.reset();
  auto exclusive = FileLock::tryAcquire(path, Mode::Exclusive, "test");
  REQUIRE(exclusive);
  CHECK_FALSE(FileLock::tryAcquire(path, Mode::Shared));
  CHECK(FileLock::holder(path).find("(test)") != std::string::npos);
  FileLock moved = std::move(*exclusive);
  exclusive.reset();
  CHECK_FALSE(FileLock::tryAcquire(path, Mode::Shared));
}

TEST_CASE("a lock is released at the end and its file stays") {
  ScratchDir dir;
  {
    FileLock lock = FileLock::acquire(dir / "l", Mode::Exclusive, 0ms);
  }
  CHECK(exists(dir / "l"));
  CHECK(FileLock::holder(dir / "l").empty());
  CHECK(FileLock::tryAcquire(dir / "l", Mode::Exclusive));
}

TEST_CASE("who waits too long for a lock learns who holds it") {
  ScratchDir dir;
  FileLock lock = FileLock::acquire(dir / "l", Mode::Exclusive, 0ms, "building");
  CHECK_THROWS_WITH_AS(FileLock::acquire(dir / "l", Mode::Exclusive, 0ms),
                       doctest::Contains("(building)"), StorageError);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_WITH_AS(FileLock::acquire(dir / "l", Mode::Exclusive, 1h, "", stop.get_token()),
                       doctest::Contains("stopped"), StorageError);
}

TEST_CASE("a waiter gets the lock when its holder dies") {
  ScratchDir dir;
  std::string path = dir / "l";
  Child child([&](const auto& signal) {
    FileLock lock = FileLock::acquire(path, Mode::Exclusive, 0ms);
    signal();
    for (;;)
      ::pause();
    return 0;
  });
  child.awaitSignal();
  CHECK_FALSE(FileLock::tryAcquire(path, Mode::Exclusive));
  child.kill();
  CHECK_NOTHROW(FileLock::acquire(path, Mode::Exclusive, 10s));
}

TEST_CASE("a lock on a file that was unlinked excludes nobody and is not given out") {
  ScratchDir dir;
  auto stale = FileLock::tryAcquire(dir / "l", Mode::Exclusive);
  std::filesystem::remove(dir / "l");
  CHECK(FileLock::tryAcquire(dir / "l", Mode::Exclusive));
  CHECK_THROWS_AS(FileLock::tryAcquire(dir / "none/l", Mode::Shared), StorageError);
}

TEST_CASE("threads exclude each other") {
  ScratchDir dir;
  std::string path = dir / "l";
  // The lock under test guards them; atomic because the thread sanitizer knows no locks of files.
  std::atomic<int> inside = 0, violations = 0;
  auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      FileLock lock = FileLock::acquire(path, Mode::Exclusive, 60s);
      violations += ++inside != 1;
      --inside;
    }
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  CHECK(violations == 0);
}

TEST_CASE("blobs come back whole, short and long") {
  std::string mixed;
  for (int i = 0; i < 3000; ++i)
    mixed.append(hashBytes(std::to_string(i)).view()); // does not shrink
  for (const std::string& bytes :
       {std::string(), std::string("short"), std::string(100'000, 'a'), mixed}) {
    std::string blob = encodeBlob(bytes);
    CHECK(blob.size() <= bytes.size() + 1);
    CHECK(decodeBlob(blob) == bytes);
  }
  CHECK(encodeBlob(std::string(100'000, 'a')).size() < 1000);
}

TEST_CASE("broken blobs are refused") {
  std::string blob = encodeBlob(std::string(10'000, 'a'));
  std::string claimsMuch = blob;
  claimsMuch[7] = 0x7f;
  std::string scrambled = blob;
  scrambled[12] = static_cast<char>(scrambled[12] ^ 0x55);
  for (const std::string& broken : {std::string(), std::string("q"), std::string("z12"),
                                    blob.substr(0, 20), claimsMuch, scrambled})
    CHECK_THROWS_AS(decodeBlob(broken), Error);
}

} // namespace
} // namespace nocturne
