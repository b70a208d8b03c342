#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

#include "compiler/tuning/build_task.h"
#include "tests/compiler/drivers/fixture.h"
#include "tests/compiler/tuning/fake_tasks.h"

namespace nocturne::test {

using namespace compiler;

namespace {

CompiledTask scaleTask(const std::string& cache) {
  BuildDriver driver(std::make_shared<FakeWays>());
  TaskBuilder builder(driver, quickly(cache));
  std::optional<CompiledTask> task = buildTask(builder, taskOf({way("--rounds=9000")}), "cpu");
  REQUIRE(task);
  return *task;
}

} // namespace

TEST_CASE("a compiled task computes, from tensors and from buffers") {
  ScratchDir dir;
  const CompiledTask task = scaleTask(dir / "cache");
  CHECK(task.name() == "scale");
  CHECK(task.candidates().size() == 2);
  CHECK((task.candidates()[task.winner()].state == CandidateState::Timed));

  std::vector<TensorData> inputs;
  inputs.emplace_back("f32", std::vector<int64_t>{4});
  for (size_t i = 0; i < 4; ++i)
    inputs[0].setValue(i, double(i) + 1);
  std::vector<TensorData> results;
  CHECK_FALSE(task.call(inputs, results));
  CHECK(results.at(0).text() == "f32[4] = [2, 4, 6, 8]");

  std::array<float, 4> in = {1, 2, 3, 4}, out{};
  const std::array<int64_t, 1> dims = {4};
  const std::array<Buffer, 1> from = {{{"f32", dims, in.data()}}},
                              to = {{{"f32", dims, out.data()}}};
  CHECK_FALSE(task.call(from, to));
  CHECK(out == std::array<float, 4>{2, 4, 6, 8});
}

TEST_CASE("arguments that do not fit are told, and nothing is called") {
  ScratchDir dir;
  const CompiledTask task = scaleTask(dir / "cache");
  std::array<float, 9> memory = {1, 2, 3, 4};
  const std::array<int64_t, 1> four = {4}, three = {3};
  const Buffer in{"f32", four, memory.data()}, out{"f32", four, memory.data() + 4};
  const auto problem = [&](std::vector<Buffer> inputs, std::vector<Buffer> outputs) {
    const std::optional<Failure> failure = task.call(inputs, outputs);
    return failure ? failure->message : std::string("none");
  };
  CHECK(problem({in}, {out}) == "none");
  CHECK(problem({{"f64", four, memory.data()}}, {out}) == "input 0 of @scale is 4xf32, not 4xf64");
  CHECK(problem({in}, {{"f32", three, memory.data() + 4}}) ==
        "result 0 of @scale is 4xf32, not 3xf32");
  CHECK(problem({in, in}, {out}) == "@scale takes 1 input and gives 1 result, not 2 and 1");
  CHECK(problem({}, {out}) == "@scale takes 1 input and gives 1 result, not 0 and 1");
  CHECK(problem({in}, {{"f32", four, nullptr}}) == "result 0 of @scale has no memory");
  CHECK(problem({in}, {{"f32", four, memory.data() + 3}}) ==
        "arguments 0 and 1 of @scale share memory, and one of them is a result");
  CHECK(problem({in}, {{"f32", four, reinterpret_cast<char*>(memory.data()) + 17}}) ==
        "result 0 of @scale is not aligned to its elements");
}

TEST_CASE("a task outlives its builder and may be called by several threads") {
  ScratchDir dir;
  std::optional<CompiledTask> task = scaleTask(dir / "cache");
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([copy = *task, &right, t] {
        std::vector<TensorData> inputs, results;
        inputs.emplace_back("f32", std::vector<int64_t>{4});
        fillConstant(inputs[0], t);
        for (int i = 0; i < 100; ++i)
          if (!copy.call(inputs, results) && results[0].value(3) == 2 * t)
            ++right;
      });
    task.reset();
  }
  CHECK(right.load() == 400);
}

} // namespace nocturne::test
