// This run's results and claims: who computes which key, who waits for it, and what came out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include <tbb/concurrent_hash_map.h>

#include "actors/work.h"
#include "engine/services.h"

namespace nocturne {

using ResultPtr = std::shared_ptr<const ResultRow>;

//             claim()                    resolve()                     settled(), later
//  (unknown) ─────────► claimed by a worker ──────► result ────────────────────────► (in the store)
//                          │     ▲
//                          └─────┘ release(), releaseAll(), expire(): to the first waiter,
//                                  or back to unknown when nobody waits
//
// result() may be called from any thread; everything else belongs to the cache actor's. Results
// that are in the store as well are kept up to a bound, so that memory does not grow with the
// sweep.
class ClaimTable {
public:
  using Clock = std::chrono::steady_clock;
  enum class Answer : uint8_t { Hit, Yours, Pending };
  struct Passed { // a claim that went to the one who waited longest
    Digest key;
    WorkerId to = 0;
  };

  explicit ClaimTable(size_t keptResults) : keptResults_(keptResults) {}

  ResultPtr result(const Digest& key) const;

  bool claimed(const Digest& key) const { return claims_.contains(key); }
  // `row` is set when the answer is Hit. Pending makes the worker one of those who wait, even where
  // it is itself the holder.
  Answer claim(const Digest& key, WorkerId worker, Clock::time_point now, ResultPtr& row);
  // Stores a result, claimed or not. Returns the workers that waited for it.
  std::vector<WorkerId> resolve(const ResultRow& row);
  // The holder has no result that may be kept. `passed` receives the new holder, if any.
  void release(const Digest& key, WorkerId holder, Clock::time_point now,
               std::vector<Passed>& passed);
  // The worker is dead: it holds nothing and waits for nothing any more.
  std::vector<Passed> releaseAll(WorkerId worker, Clock::time_point now);
  // Claims with waiters that are older than `deadline` pass on.
  std::vector<Passed> expire(Clock::duration deadline, Clock::time_point now);
  bool anyoneWaits() const { return waiting_ > 0; }

  // These results can be found in the store from now on, so that they may be forgotten.
  void settled(const std::vector<ResultRow>& rows);
  // How many settled results are kept from now on.
  void keepResults(size_t count) { keptResults_ = count; }
  size_t claims() const { return claims_.size(); }
  size_t results() const { return results_.size(); }

private:
  struct Claim {
    WorkerId holder = 0;
    Clock::time_point since;
    std::vector<WorkerId> waiters; // in order of asking
  };
  struct TbbHash {
    static size_t hash(const Digest& key) { return KeyHash()(key); }
    static bool equal(const Digest& a, const Digest& b) { return a == b; }
  };
  using Claims = std::unordered_map<Digest, Claim, KeyHash>;

  // Gives the claim to its first waiter; without one it ends. Returns the place of the next claim.
  Claims::iterator passOn(Claims::iterator claim, Clock::time_point now,
                          std::vector<Passed>& passed);

  size_t keptResults_;
  tbb::concurrent_hash_map<Digest, ResultPtr, TbbHash> results_;
  Claims claims_;
  size_t waiting_ = 0;         // over all claims
  std::deque<Digest> settled_; // oldest first
};

} // namespace nocturne
