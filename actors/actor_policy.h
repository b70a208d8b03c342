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

// Only a bug throws out of a handler. The actor then dies, with the text as its reason, and whoever
// watches it decides.
template <typename Self>
void dieQuietly(Self* self) {
  self->set_default_handler(caf::drop);
  self->set_exception_handler([](caf::scheduled_actor*, std::exception_ptr& thrown) -> caf::error {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& bug) {
      return caf::make_error(caf::sec::runtime_error, std::string(bug.what()));
    } catch (...) {
      return caf::make_error(caf::sec::runtime_error, std::string("unknown exception"));
    }
  });
}

} // namespace nocturne
