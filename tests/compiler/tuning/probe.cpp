// tuning_probe worker REQUEST          answers a request, as `nocturne tune --worker` does
// tuning_probe build CACHE COUNT_FILE  builds a task and says whether it measured
#include <iostream>

#include "tests/compiler/tuning/fake_tasks.h"

using namespace nocturne;

int main(int argc, char** argv) {
  const std::string action = argc > 2 ? argv[1] : "";
  if (action == "worker") {
    compiler::BuildDriver driver(std::make_shared<test::FakeWays>());
    std::cout << compiler::answerRequest(driver, argv[2]) << '\n';
    return 0;
  }
  if (action != "build" || argc != 4)
    return 2;
  compiler::BuildDriver driver(std::make_shared<test::FakeWays>("ways 1", argv[3]));
  compiler::TaskBuilder builder(driver, test::quickly(argv[2]));
  const compiler::TaskReport report =
      builder.build(test::taskOf({test::way("--rounds=5"), test::way("--rounds=9")}), "cpu");
  std::cout << (report.measured ? "measured " : "found ") << report.candidates.size() << '\n';
  return 0;
}
