#include <doctest/doctest.h>

#include "compiler/drivers/target.h"
#include "engine/error.h"

namespace nocturne::test {

using compiler::parseTarget;

namespace {

std::string problemOf(const std::string& text) {
  try {
    parseTarget(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, const std::string& part) {
  return problemOf(text).find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a target is a name and options, and has one spelling") {
  CHECK(parseTarget("cpu").text() == "cpu");
  CHECK(parseTarget("cpu --arch=x86-64-v3").option("arch") == "x86-64-v3");
  CHECK(parseTarget("cuda --arch=sm_90").text() == "cuda --arch=sm_90");
  CHECK(parseTarget(" cuda  --cpu_arch=x86-64\t--arch=sm_90a ").text() ==
        "cuda --arch=sm_90a --cpu_arch=x86-64");
  CHECK(parseTarget("cpu").option("arch") == "");
}

TEST_CASE("what is wrong with a target is named, with what is near to it") {
  CHECK(mentions("", "a target has a name: cpu, cuda"));
  CHECK(mentions("tpu", "there is no target \"tpu\""));
  CHECK(mentions("cdua", "did you mean \"cuda\"?"));
  CHECK(mentions("cpu --arhc=x", "did you mean \"--arch\"?"));
  CHECK(mentions("cpu --cpu_arch=x", "cpu has no option \"--cpu_arch\""));
  CHECK(mentions("cpu --arch", "\"--arch\" is not of the form --key=value"));
  CHECK(mentions("cpu -arch=x", "\"-arch=x\" is not of the form"));
  CHECK(mentions("cpu foo", "\"foo\" is not of the form"));
  CHECK(mentions("cpu --arch=", "has no usable value"));
  CHECK(mentions("cpu --arch=a=b", "has no usable value"));
  CHECK(mentions("cpu --arch=a --arch=b", "given twice"));
  CHECK(mentions("cuda --arch=90", "no CUDA architecture such as sm_90"));
  CHECK(mentions("cuda --arch=sm_", "no CUDA architecture"));
}

} // namespace nocturne::test
