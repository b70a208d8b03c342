#include "engine/file_bytes.h"

#include <functional>

#include <doctest/doctest.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/error.h"
#include "plan_fixture.h"

using namespace nocturne;

namespace {

// What is wrong with reading a file, "" for nothing.
std::string problemOf(const std::string& path, const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const ItemError& error) {
    CHECK((error.failure().kind == FailureKind::Unreadable));
    CHECK(error.failure().file == path);
    return error.failure().message;
  }
}

// Reading and hashing refuse the same files for the same reasons.
std::string problemOf(const std::string& path, uint64_t limit = kMaxFileBytes) {
  std::string reading = problemOf(path, [&] { readFile(path, limit); });
  std::string hashing = problemOf(path, [&] { hashFile(path, limit); });
  CHECK(reading == hashing);
  return reading;
}

// Whether `work` is true for somebody who is not root.
bool holdsForNobody(const std::function<bool()>& work) {
  pid_t child = ::fork();
  if (child == 0) {
    bool changed = ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0;
    ::_exit(changed && work() ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

} // namespace

TEST_CASE("a file is read whole, and hashed as its bytes are") {
  test::ScratchDir folder;
  const std::string text("a\0b\n", 4);
  const std::string path = folder.write("f", text);
  CHECK(readFile(path) == text);
  CHECK(hashFile(path).bytes == 4);
  CHECK(hashFile(path).contentHash == hashBytes(text));
  const std::string empty = folder.write("empty");
  CHECK(readFile(empty).empty());
  CHECK(hashFile(empty).contentHash == hashBytes(""));
}

TEST_CASE("a large file is hashed in pieces like a small one at once") {
  test::ScratchDir folder;
  // Around the size of what is on the stack, and around whole pieces.
  for (size_t size : {16383, 16384, 16385, 262144, 262145, 1000003}) {
    const std::string text(size, 'z');
    const HashedFile file = hashFile(folder.write("f", text));
    CHECK(file.bytes == size);
    CHECK(file.contentHash == hashBytes(text));
  }
}

TEST_CASE("a file that cannot be read says why") {
  test::ScratchDir folder;
  CHECK(problemOf(folder.path() + "/none") == "cannot be opened: No such file or directory");
  CHECK(problemOf(folder.path()) == "is a directory");
  const std::string pipe = folder.path() + "/pipe";
  ::mkfifo(pipe.c_str(), 0666);
  CHECK(problemOf(pipe) == "is not a regular file");
  const std::string big = folder.write("big", "12345");
  CHECK(problemOf(big, 5) == "");
  CHECK(problemOf(big, 4) == "is too large: 5 bytes, at most 4 are read");
}

TEST_CASE("a file that may not be read says so") {
  test::ScratchDir folder;
  const std::string path = folder.write("f", "x");
  ::chmod(path.c_str(), 0);
  auto denied = [&] { return problemOf(path) == "cannot be opened: Permission denied"; };
  CHECK((::geteuid() == 0 ? holdsForNobody(denied) : denied()));
}

TEST_CASE("a file has its content until it is changed or gone") {
  test::ScratchDir folder;
  const std::string path = folder.write("f", "one");
  CHECK(hasContent(path, hashBytes("one")));
  folder.write("f", "two");
  CHECK_FALSE(hasContent(path, hashBytes("one")));
  std::filesystem::remove(path);
  CHECK_FALSE(hasContent(path, hashBytes("two")));
}
