// What all actors have in common: deadlines, and silence on standard error.
#pragma once

#include <chrono>
#include <exception>
#include <string>

#include <caf/error.hpp>
#include <caf/local_actor.hpp>
#include <caf/make_message.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/sec.hpp>

namespace nocturne {

// Of the supervisor's requests to the cache actor, the few of a run. Longer than the longest wait
// of a store for another process.
inline constexpr std::chrono::seconds kCacheDeadline{300};
// A claim that somebody waits for passes on after this.
inline constexpr std::chrono::seconds kClaimDeadline{600};
inline constexpr std::chrono::milliseconds kFlushAfter{50};
inline constexpr size_t kFlushRows = 256;
inline constexpr std::chrono::milliseconds kProgressEvery{200};

inline std::string textOf(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& bug) {
    return bug.what();
  } catch (...) {
    return "unknown exception";
  }
}

// Only a bug throws out of a handler. The actor then dies, with the text as its reason, and whoever
// watches it decides. `lastWords` is called with the text before: an answer that is still owed
// would never come.
template <typename Self, typename LastWords>
void dieQuietly(Self* self, LastWords lastWords) {
  self->set_default_handler(caf::drop);
  self->set_exception_handler(
      [lastWords](caf::scheduled_actor*, std::exception_ptr& thrown) -> caf::error {
        const std::string text = textOf(thrown);
        lastWords(text);
        return caf::make_error(caf::sec::runtime_error, text);
      });
}
template <typename Self>
void dieQuietly(Self* self) {
  dieQuietly(self, [](const std::string&) {});
}

} // namespace nocturne
