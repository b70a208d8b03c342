#include "engine/error.h"

#include <doctest/doctest.h>

using namespace nocturne;

TEST_CASE("every kind of failure has the spelling of the results files") {
  CHECK(toString(FailureKind::Unreadable) == "unreadable");
  CHECK(toString(FailureKind::UnsupportedOp) == "unsupported_op");
  CHECK(toString(FailureKind::BadConfig) == "bad_config");
  CHECK(toString(FailureKind::TimedOut) == "timed_out");
  CHECK(toString(FailureKind::Crashed) == "crashed");
  CHECK(toString(FailureKind::ToolFailed) == "tool_failed");
  CHECK(toString(FailureKind::Internal) == "internal");
}

TEST_CASE("the spelling of a failure kind reads back") {
  for (int i = 0; i <= static_cast<int>(FailureKind::Internal); ++i) {
    auto kind = static_cast<FailureKind>(i);
    CHECK((failureKindFromString(toString(kind)) == kind));
  }
  CHECK_THROWS_WITH_AS(failureKindFromString("Internal"), "'Internal' is no kind of failure",
                       Error);
}

TEST_CASE("only what depends on nothing but the input fails the same way again") {
  for (FailureKind kind :
       {FailureKind::Unreadable, FailureKind::UnsupportedOp, FailureKind::BadConfig})
    CHECK(isDeterministic(kind));
  for (FailureKind kind : {FailureKind::TimedOut, FailureKind::Crashed, FailureKind::ToolFailed,
                           FailureKind::Internal})
    CHECK_FALSE(isDeterministic(kind));
}

TEST_CASE("the text of a failure leaves out what is absent") {
  Failure failure{FailureKind::UnsupportedOp, "no rule", "a.mlir", 3, 5};
  CHECK(failure.text() == "a.mlir:3:5: no rule");
  failure.column = 0;
  CHECK(failure.text() == "a.mlir:3: no rule");
  failure.line = 0;
  CHECK(failure.text() == "a.mlir: no rule");
  failure.file.clear();
  CHECK(failure.text() == "no rule");
  failure.line = 7;
  CHECK(failure.text() == "7: no rule");
}

TEST_CASE("a usage error says where its value stands") {
  UsageError error("must be positive", "/hardware/0/peak_flops");
  CHECK(error.pointer() == "/hardware/0/peak_flops");
  CHECK(std::string(error.what()) == "/hardware/0/peak_flops: must be positive");
  CHECK(std::string(UsageError("no module given").what()) == "no module given");
}

TEST_CASE("the errors of items and of storage keep their kinds") {
  ItemError item({FailureKind::TimedOut, "10 s passed", "b.mlir", 0, 0});
  CHECK((item.failure().kind == FailureKind::TimedOut));
  CHECK(std::string(item.what()) == "b.mlir: 10 s passed");
  CHECK(StorageError(StorageErrorKind::Full, "disk full").kind() == StorageErrorKind::Full);
}
