#include "tests/compiler/drivers/fixture.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nocturne::test {

namespace fs = std::filesystem;

Program::Program(const std::vector<std::string>& command) {
  std::array<int, 2> in, out;
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, words.front(), &actions, nullptr, words.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  in_ = in[1];
  out_ = out[0];
  if (error != 0)
    throw std::runtime_error(command.front() + " cannot be started");
}

Program::~Program() {
  kill();
  ::close(in_);
  ::close(out_);
}

std::string Program::readLine() {
  std::string line;
  for (char letter = 0; ::read(out_, &letter, 1) == 1;) {
    if (letter == '\n')
      return line;
    line.push_back(letter);
  }
  return line;
}

void Program::goOn() {
  if (::write(in_, "\n", 1) != 1)
    throw std::runtime_error("the program is gone");
}

void Program::kill() {
  if (pid_ > 0)
    ::kill(pid_, SIGKILL);
  wait();
}

int Program::wait() {
  if (pid_ <= 0)
    return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> probe(const std::string& outputDir, const std::string& stopAt,
                               const std::vector<std::string>& more) {
  std::vector<std::string> command = {NOCTURNE_TEST_PROBE, outputDir, stopAt};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

compiler::BuildOptions into(const std::string& outputDir) {
  compiler::BuildOptions options;
  options.outputDir = outputDir;
  return options;
}

void flipByte(const std::string& path) {
  const auto time = fs::last_write_time(path);
  std::string text = readText(path);
  text.at(text.size() / 2) ^= 1;
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  fs::last_write_time(path, time);
}

std::vector<std::string> namesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder))
    names.push_back(file.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

float callWithThree(const compiler::CompiledFunction& function) {
  std::array<float, 4> in = {1, 2, 3, 4}, out{};
  const std::array<void*, 2> arguments = {in.data(), out.data()};
  if (function.call(arguments) != compiler::kCallSucceeded)
    throw std::runtime_error("the call failed");
  return out[2];
}

} // namespace nocturne::test
