#include "compiler/reader/stack.h"

#include <pthread.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace nocturne::compiler {

namespace {

bool hasDeepStack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return false;
  void* address = nullptr;
  size_t size = 0;
  int error = pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  return error == 0 && size >= kReaderStackBytes;
}

struct Job {
  const std::function<void()>& work;
  std::exception_ptr thrown;
};

void* runJob(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  try {
    job.work();
  } catch (...) {
    job.thrown = std::current_exception();
  }
  return nullptr;
}

} // namespace

void runWithDeepStack(const std::function<void()>& work) {
  // A thread's stack never changes its size, and asking the main thread's reads a file of /proc.
  thread_local const bool deep = hasDeepStack();
  if (deep)
    return work();
  Job job{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // The guard page and the thread's own data are taken from the size that is asked for.
  pthread_attr_setstacksize(&attributes, kReaderStackBytes + (size_t{64} << 10));
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, &runJob, &job);
  pthread_attr_destroy(&attributes);
  if (error != 0)
    throw std::runtime_error(std::string("no thread for the reader: ") + std::strerror(error));
  pthread_join(thread, nullptr);
  if (job.thrown)
    std::rethrow_exception(job.thrown);
}

} // namespace nocturne::compiler
