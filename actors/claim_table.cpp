#include "actors/claim_table.h"

namespace nocturne {

ResultPtr ClaimTable::result(const Digest& key) const {
  decltype(results_)::const_accessor found;
  return results_.find(found, key) ? found->second : nullptr;
}

ClaimTable::Answer ClaimTable::claim(const Digest& key, WorkerId worker, Clock::time_point now,
                                     ResultPtr& row) {
  row = result(key);
  if (row)
    return Answer::Hit;
  auto [claim, isNew] = claims_.try_emplace(key);
  if (isNew) {
    claim->second = {worker, now, {}};
    return Answer::Yours;
  }
  claim->second.waiters.push_back(worker);
  ++waiting_;
  return Answer::Pending;
}

std::vector<WorkerId> ClaimTable::resolve(const ResultRow& row) {
  results_.insert({row.key, std::make_shared<const ResultRow>(row)});
  auto claim = claims_.extract(row.key);
  if (claim.empty())
    return {};
  waiting_ -= claim.mapped().waiters.size();
  return std::move(claim.mapped().waiters);
}

ClaimTable::Claims::iterator ClaimTable::passOn(Claims::iterator claim, Clock::time_point now,
                                                std::vector<Passed>& passed) {
  std::vector<WorkerId>& waiters = claim->second.waiters;
  if (waiters.empty())
    return claims_.erase(claim);
  claim->second.holder = waiters.front();
  claim->second.since = now;
  waiters.erase(waiters.begin());
  --waiting_;
  passed.push_back({claim->first, claim->second.holder});
  return ++claim;
}

void ClaimTable::release(const Digest& key, WorkerId holder, Clock::time_point now,
                         std::vector<Passed>& passed) {
  auto claim = claims_.find(key);
  if (claim != claims_.end() && claim->second.holder == holder)
    passOn(claim, now, passed);
}

std::vector<ClaimTable::Passed> ClaimTable::releaseAll(WorkerId worker, Clock::time_point now) {
  for (auto& [key, claim] : claims_)
    waiting_ -= std::erase(claim.waiters, worker);
  std::vector<Passed> passed;
  for (auto claim = claims_.begin(); claim != claims_.end();)
    claim = claim->second.holder == worker ? passOn(claim, now, passed) : std::next(claim);
  return passed;
}

std::vector<ClaimTable::Passed> ClaimTable::expire(Clock::duration deadline,
                                                   Clock::time_point now) {
  std::vector<Passed> passed;
  for (auto claim = claims_.begin(); claim != claims_.end();) {
    bool late = !claim->second.waiters.empty() && now - claim->second.since > deadline;
    claim = late ? passOn(claim, now, passed) : std::next(claim);
  }
  return passed;
}

void ClaimTable::settled(const std::vector<ResultRow>& rows) {
  for (const ResultRow& row : rows)
    settled_.push_back(row.key);
  while (settled_.size() > keptResults_) {
    results_.erase(settled_.front());
    settled_.pop_front();
  }
}

} // namespace nocturne
