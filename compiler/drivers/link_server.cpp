#include "compiler/drivers/link_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/byte_stream.h"
#include "engine/error.h"

namespace nocturne::compiler {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& message, int reason) {
  throw ItemError({FailureKind::ToolFailed,
                   message + ": " + std::generic_category().message(reason), "", 0, 0});
}

// A message is its size and its bytes. Both ends are ours, of one program.
bool sendBytes(int socket, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return false;
    if (sent > 0) {
      bytes += sent;
      size -= static_cast<size_t>(sent);
    }
  }
  return true;
}

bool sendMessage(int socket, const std::string& message) {
  const uint64_t size = message.size();
  return sendBytes(socket, reinterpret_cast<const char*>(&size), sizeof size) &&
         sendBytes(socket, message.data(), message.size());
}

bool receiveBytes(int socket, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, bytes, size, 0);
    if (got == 0 || (got < 0 && errno != EINTR))
      return false;
    if (got > 0) {
      bytes += got;
      size -= static_cast<size_t>(got);
    }
  }
  return true;
}

// Nothing when the other end is gone.
std::optional<std::string> receiveMessage(int socket) {
  uint64_t size = 0;
  if (!receiveBytes(socket, reinterpret_cast<char*>(&size), sizeof size))
    return std::nullopt;
  std::string message(size, '\0');
  if (!receiveBytes(socket, message.data(), message.size()))
    return std::nullopt;
  return message;
}

// False at the deadline. The end of the other end is something to be read as well.
bool awaitMessage(int socket, Clock::time_point deadline) {
  pollfd wait{socket, POLLIN, 0};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready =
        ::poll(&wait, 1, static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1'000'000)));
    if (ready > 0 || (ready < 0 && errno != EINTR))
      return true;
    if (Clock::now() >= deadline)
      return false;
  }
}

std::string requestText(const std::vector<std::string>& words, const std::string& directory) {
  std::string text;
  ByteWriter writer(text);
  writer.text(directory);
  writer.number(words.size());
  for (const std::string& word : words)
    writer.text(word);
  return text;
}

std::string answerText(const ProgramResult& result) {
  std::string text;
  ByteWriter writer(text);
  writer.signedNumber(result.code);
  writer.text(result.output);
  writer.text(result.errors);
  return text;
}

ProgramResult resultFrom(std::string_view text) {
  ByteReader reader(text);
  ProgramResult result;
  result.code = static_cast<int>(reader.signedNumber());
  result.output = reader.text();
  result.errors = reader.text();
  return result;
}

// Ends with the first request that it cannot serve: the asker has another way.
void serve(int socket, const LinkServer::Link& link) {
  bool fit = true;
  while (fit) {
    const std::optional<std::string> request = receiveMessage(socket);
    if (!request)
      return;
    ByteReader reader(*request);
    const std::string directory(reader.text());
    std::vector<std::string> words(reader.count());
    for (std::string& word : words)
      word = reader.text();
    ProgramResult result;
    if (::chdir(directory.c_str()) != 0)
      return;
    fit = link(words, result);
    // The folder is going to have another name, and this must not be what keeps it.
    if (::chdir("/") != 0 || !sendMessage(socket, answerText(result)))
      return;
  }
}

} // namespace

LinkServer::LinkServer(std::string linker, const Link& link) : linker_(std::move(linker)) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail("no socket to a linker", errno);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "linker");
    if (::getppid() == parent) // which may have died before it could be told
      [&]() noexcept { serve(ends[1], link); }();
    ::_exit(0);
  }
  const int reason = errno;
  ::close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    ::close(socket_);
    fail("cannot start a linker", reason);
  }
}

LinkServer::~LinkServer() {
  end();
  ::close(socket_);
}

void LinkServer::end() {
  if (process_ < 0)
    return;
  const pid_t process = std::exchange(process_, -1);
  ::kill(process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ProgramResult> LinkServer::run(const std::vector<std::string>& words,
                                             const std::string& directory,
                                             std::chrono::milliseconds timeout) {
  const std::scoped_lock lock(mutex_);
  if (process_ < 0)
    return std::nullopt;
  const Clock::time_point deadline = Clock::now() + timeout;
  std::optional<std::string> answer;
  if (sendMessage(socket_, requestText(words, directory))) {
    if (!awaitMessage(socket_, deadline)) {
      end();
      ProgramResult late;
      late.end = ProgramResult::End::TimedOut;
      return late;
    }
    answer = receiveMessage(socket_);
  }
  if (answer)
    return resultFrom(*answer);
  end();
  return std::nullopt;
}

} // namespace nocturne::compiler
