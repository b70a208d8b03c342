// How values of the engine travel in messages: inspect() overloads, found by argument-dependent
// look-up.
#pragma once

#include <array>
#include <cstring>
#include <optional>

#include <caf/error.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>

#include "engine/services.h"

namespace nocturne {

// std::optional as two fields, since CAF 0.17 knows only its own.
template <typename T>
struct OptionalFields {
  bool present = false;
  T value{};

  explicit OptionalFields(const std::optional<T>& from)
      : present(from.has_value()), value(from.value_or(T{})) {}
  void store(std::optional<T>& to) {
    if (present)
      to = std::move(value);
    else
      to.reset();
  }
};

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, Digest& x) {
  std::array<uint64_t, 4> words;
  static_assert(sizeof(words) == sizeof(x.bytes));
  std::memcpy(words.data(), x.bytes.data(), sizeof(words));
  auto load = [&]() -> caf::error {
    std::memcpy(x.bytes.data(), words.data(), sizeof(words));
    return caf::none;
  };
  return f(caf::meta::type_name("Digest"), words[0], words[1], words[2], words[3],
           caf::meta::load_callback(load));
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, Failure& x) {
  return f(caf::meta::type_name("Failure"), x.kind, x.message, x.file, x.line, x.column);
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, Assumption& x) {
  return f(caf::meta::type_name("Assumption"), x.kind, x.value, x.location);
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, ModuleFacts& x) {
  return f(caf::meta::type_name("ModuleFacts"), x.contentHash, x.fingerprint, x.rows, x.collectives,
           x.collectiveBytes, x.peakBytes, x.assumptions);
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, ResultRow& x) {
  OptionalFields<double> runtime(x.runtime);
  OptionalFields<FailureKind> failure(x.failure);
  auto load = [&]() -> caf::error {
    runtime.store(x.runtime);
    failure.store(x.failure);
    return caf::none;
  };
  return f(caf::meta::type_name("ResultRow"), x.key, x.configuration, x.fingerprint, x.success,
           runtime.present, runtime.value, x.flops, x.bytes, x.coveredRuns, x.totalRuns, x.notes,
           failure.present, failure.value, x.failureMessage, x.failureOp,
           caf::meta::load_callback(load));
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, FileEntry& x) {
  OptionalFields<Failure> failure(x.failure);
  auto load = [&]() -> caf::error {
    failure.store(x.failure);
    return caf::none;
  };
  return f(caf::meta::type_name("FileEntry"), x.contentHash, x.readerText, x.facts, x.table,
           failure.present, failure.value, caf::meta::load_callback(load));
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, ItemRecord& x) {
  OptionalFields<Failure> failure(x.failure);
  auto load = [&]() -> caf::error {
    failure.store(x.failure);
    return caf::none;
  };
  return f(caf::meta::type_name("ItemRecord"), x.point, x.status, x.fromCache, x.result,
           failure.present, failure.value, x.events, caf::meta::load_callback(load));
}

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, ShardRecord& x) {
  OptionalFields<ModuleFacts> facts(x.facts);
  auto load = [&]() -> caf::error {
    facts.store(x.facts);
    return caf::none;
  };
  return f(caf::meta::type_name("ShardRecord"), x.module, x.firstPoint, facts.present, facts.value,
           x.items, x.statistics, x.attempts, caf::meta::load_callback(load));
}

} // namespace nocturne
