#include "engine/op_info.h"

#include <doctest/doctest.h>

using namespace nocturne;

TEST_CASE("operations between devices are collectives, in both dialects") {
  for (const char* name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute",
        "collective_broadcast", "collective_reduce", "send", "recv", "cross-replica-sum"})
    CHECK_MESSAGE(isCollective(std::string("stablehlo.") + name), name);
  for (const char* name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute"})
    CHECK_MESSAGE(isCollective(std::string("sdy.") + name), name);
}

TEST_CASE("a slice of what is already here is no collective") {
  CHECK_FALSE(isCollective("sdy.all_slice"));
  CHECK_FALSE(isCollective("stablehlo.add"));
  CHECK_FALSE(isCollective("all_reduce"));
  CHECK_FALSE(isCollective(""));
}

TEST_CASE("bytes of an operation are the sums over its operands and results") {
  OpInfo op{"stablehlo.concatenate",
            {{{ElementKind::F32}, {2}}, {{ElementKind::F32}, {3}}},
            {{{ElementKind::F32}, {5}}}};
  CHECK(op.operandBytes() == 20);
  CHECK(op.resultBytes() == 20);
  op.operands.push_back({{ElementKind::Token}, {}});
  CHECK(op.operandBytes() == 20);
}

TEST_CASE("the bytes of operations are equal exactly when the operations are") {
  OpInfo a{"stablehlo.transpose", {}, {}, DimensionsAttributes{{1, 0}}};
  OpInfo b = a;
  CHECK(serialise(a) == serialise(b));
  b.attributes = DimensionsAttributes{{0, 1}};
  CHECK(serialise(a) != serialise(b));
  b = a;
  b.nested.push_back({"stablehlo.add", {}, {}});
  CHECK(serialise(a) != serialise(b));
  b = a;
  b.inCallee = true;
  CHECK(serialise(a) != serialise(b));
  b = a;
  b.attributes = PadAttributes{{1}, {0}, {}};
  CHECK(serialise(a) != serialise(b));
  ConvolutionAttributes plain, precise;
  precise.precision = {"HIGHEST", "HIGHEST"};
  a.attributes = plain;
  b.attributes = precise;
  CHECK(serialise(a) != serialise(b));
}
