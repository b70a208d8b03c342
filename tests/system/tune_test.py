"""nocturne tune: candidates built, compared and measured in processes of their own."""

import json
import os

import harness

SCALE = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.constant dense<{factor}> : tensor<64x64xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}}
"""

BLOCKS = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %l:3 = transform.structured.tile_using_for %0 tile_sizes [16, 16, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
"""

# Whoever looks for a mistake in a schedule prints.
PRINTS = BLOCKS.replace("    transform.yield", "    transform.print %m : !transform.any_op\n    transform.yield")

NOTHING_TO_TILE = BLOCKS.replace("linalg.matmul", "func.func")


class Tune(harness.SystemTest):
    def setUp(self):
        super().setUp()
        harness.write(self.path("scale.mlir"), SCALE.format(factor="2.0"))
        harness.write(self.path("wrong.mlir"), SCALE.format(factor="2.1"))
        harness.write(self.path("blocks.mlir"), BLOCKS)
        harness.write(self.path("prints.mlir"), PRINTS)
        harness.write(self.path("useless.mlir"), NOTHING_TO_TILE)
        harness.write(self.path("unreadable.mlir"), "module {")

    def task(self, *candidates, **more):
        return harness.write(self.path("task.json"), json.dumps(
            {"schema": 1, "payload": "scale.mlir", "candidates": list(candidates), **more}))

    def tune(self, *words, expect=0):
        out, _ = self.run_command("tune", *words, "--cache", "cache", "--repetitions", "5", "--json",
                                  expect=expect)
        value = json.loads(out)
        if expect == 0:
            value["by_name"] = {candidate["name"]: candidate for candidate in value["candidates"]}
        return value

    def test_right_candidates_are_timed_and_wrong_ones_are_not_chosen(self):
        self.task({"name": "blocks", "schedule": "blocks.mlir"},
                  {"name": "wrong", "module": "wrong.mlir"},
                  {"name": "prints", "schedule": "prints.mlir"},
                  {"name": "useless", "schedule": "useless.mlir"},
                  {"name": "unreadable", "schedule": "unreadable.mlir"})
        value = self.tune("task.json")
        states = {name: candidate["state"] for name, candidate in value["by_name"].items()}
        self.assertEqual(states["usual"], "timed")
        self.assertEqual(states["blocks"], "timed")
        self.assertEqual(states["prints"], "same")
        self.assertEqual(states["wrong"], "wrong")
        self.assertEqual(states["useless"], "failed")
        self.assertEqual(states["unreadable"], "failed")
        self.assertIn("differs in", value["by_name"]["wrong"]["reason"])
        self.assertEqual(value["by_name"][value["winner"]]["state"], "timed")
        self.assertTrue(os.path.exists(os.path.join(value["library"], "lib.so")))
        self.assertEqual(os.path.realpath(os.path.join(value["folder"], "lib.so")),
                         os.path.realpath(os.path.join(value["library"], "lib.so")))

    def test_what_was_measured_is_used_again(self):
        first = self.tune("scale.mlir", "--search-space=0")
        second = self.tune("scale.mlir", "--search-space=0")
        self.assertTrue(first["measured"])
        self.assertFalse(second["measured"])
        self.assertEqual(first["candidates"], second["candidates"])
        self.assertTrue(self.tune("scale.mlir", "--search-space=0", "--force")["measured"])

    def test_the_largest_search_space_has_no_wrong_candidate(self):
        value = self.tune("scale.mlir", "--search-space=2")
        for candidate in value["candidates"]:
            self.assertIn(candidate["state"], ["timed", "same"], candidate)
        self.assertTrue(any(name.startswith("schedule") for name in value["by_name"]))

    def test_people_see_a_table(self):
        out, _ = self.run_command("tune", "scale.mlir", "--cache", "cache", "--search-space=0",
                                  "--repetitions", "5")
        self.assertIn("*  usual", out)
        self.assertIn("median", out)
        again, _ = self.run_command("tune", "scale.mlir", "--cache", "cache", "--search-space=0")
        self.assertIn("measured before", again)

    def test_mistakes_have_their_exit_codes(self):
        self.assertIn("payload", self.tune(harness.write(self.path("t.json"), '{"schema": 1}'),
                                           expect=1)["error"]["message"])
        self.assertIn("nowhere.mlir", self.tune("nowhere.mlir", expect=1)["error"]["message"])
        missing = self.tune("scale.mlir", "--entry", "maim", expect=1)["error"]["message"]
        self.assertIn('no function "maim"; did you mean "main"?', missing)
        self.assertIn("tpu", self.tune("scale.mlir", "--target", "tpu", expect=1)["error"]["message"])
        harness.write(self.path("bad.mlir"), "func.func @main() -> tensor<2xf32> { }")
        self.assertIn("payload", self.tune("bad.mlir", expect=3)["error"]["message"])


if __name__ == "__main__":
    harness.main()
