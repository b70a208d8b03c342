"""nocturne execute: programs that check themselves, in processes that may die."""

import glob
import json
import os
import signal
import struct
import time

import harness


def checked(operation, expected):
    """A program that applies a binary operation to [1, 2] and [10, 20]."""
    return f"""
func.func @main() -> tensor<2xf32> {{
  %0:2 = call @inputs() : () -> (tensor<2xf32>, tensor<2xf32>)
  %1 = call @expected() : () -> tensor<2xf32>
  %2 = {operation} %0#0, %0#1 : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%2, %1) {{has_side_effect = true}} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return %2 : tensor<2xf32>
}}
func.func private @inputs() -> (tensor<2xf32>, tensor<2xf32>) {{
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}}
func.func private @expected() -> tensor<2xf32> {{
  %0 = stablehlo.constant dense<{expected}> : tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""


ADD = """
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""

ENDLESS = """
func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.while(%i = %0) : tensor<i32>
    cond {
      %2 = stablehlo.constant dense<0> : tensor<i32>
      %3 = stablehlo.compare GE, %i, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %2 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.xor %i, %2 : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }
  return %1 : tensor<i32>
}
"""


class Execute(harness.SystemTest):
    def program(self, name, text):
        return harness.write(self.path("programs", name + ".mlir"), text)

    def test_outcomes_are_told_apart(self):
        self.program("a_pass", checked("stablehlo.add", "[11.0, 22.0]"))
        self.program("b_mismatch", checked("stablehlo.multiply", "[10.0, 41.0]"))
        self.program("c_none", checked('"other.thing"', "1.0").replace(
            '"other.thing" %0#0, %0#1 : tensor<2xf32>',
            '"other.thing"(%0#0, %0#1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>'))
        self.program("d_unreadable", "func.func @main(")
        out, _ = self.run_command("execute", "programs", "--json", "--jobs", "2", expect=3)
        report = json.loads(out)
        self.assertEqual([program["outcome"] for program in report["programs"]],
                         ["pass", "mismatch", "no lowering", "unreadable"])
        mismatch = report["programs"][1]["message"]
        for part in ("line 6", "[1]", "is 40", "expected 41", "ulp"):
            self.assertIn(part, mismatch)
        self.assertEqual(report["programs"][2]["blocked_by"], "other.thing")
        self.assertIn("c_none.mlir:5:", report["programs"][2]["message"])
        self.assertEqual(report["counts"],
                         {"pass": 1, "mismatch": 1, "no lowering": 1, "unreadable": 1})
        self.assertEqual(report["operations"]["stablehlo.add"], {"pass": 1})

    def test_table_counts_by_operation(self):
        self.program("a", checked("stablehlo.add", "[11.0, 22.0]"))
        self.program("b", checked("stablehlo.add", "[11.0, 23.0]"))
        out, _ = self.run_command("execute", "programs", "--table", expect=3)
        self.assertIn("2 programs: 1 pass, 1 mismatch", out)
        self.assertRegex(out, r"stablehlo\.add +1 +1\n")
        self.assertNotIn("a.mlir", out)

    def test_success_is_exit_code_zero(self):
        path = self.program("a", checked("stablehlo.subtract", "[-9.0, -18.0]"))
        out, _ = self.run_command("execute", path)
        self.assertEqual(out, f"pass         {path}\n")

    def test_endless_programs_are_stopped_and_the_next_runs(self):
        self.program("a_endless", ENDLESS)
        self.program("b_pass", checked("stablehlo.add", "[11.0, 22.0]"))
        out, _ = self.run_command("execute", "programs", "--timeout", "30", "--jobs", "1", expect=3)
        self.assertIn("timeout      programs/a_endless.mlir: not done within", out)
        self.assertIn("pass         programs/b_pass.mlir", out)

    def test_inputs_and_results(self):
        path = self.program("add", ADD)
        out, _ = self.run_command("execute", path, "--inputs", "ones,zeros")
        self.assertIn("f32[2] = [1, 1]", out)
        self.run_command("execute", path, "--inputs", "ones", "--output-dir", "results")
        data = harness.read(self.path("results", "add.0.npy"))
        self.assertEqual(struct.unpack("<2f", data[-8:]), (2.0, 2.0))
        out, _ = self.run_command("execute", path, "--inputs", "results/add.0.npy,ones")
        self.assertIn("[3, 3]", out)
        first, _ = self.run_command("execute", path, "--inputs", "random:3", "--print", "full")
        second, _ = self.run_command("execute", path, "--inputs", "random:3", "--print", "full")
        self.assertEqual(first, second)
        out, _ = self.run_command("execute", path, expect=3)
        self.assertIn("takes 2 inputs", out)

    def test_random_inputs_have_a_scale(self):
        path = self.program("add", ADD)
        plain, _ = self.run_command("execute", path, "--inputs", "random")
        self.assertEqual(plain, self.run_command("execute", path, "--inputs", "random:0:1")[0])
        out, _ = self.run_command("execute", path, "--inputs", "random:0:0", "--print", "statistics")
        self.assertIn("f32[2]: 0 to 0, mean 0; digest ", out)
        for wrong, why in (("random:x", "the seed"), ("random:", "the seed"), ("random:1:", "the scale"),
                           ("random:1:-1", "the scale"), ("random:1:nan", "the scale"),
                           ("random:18446744073709551616", "the seed")):
            out, _ = self.run_command("execute", path, "--inputs", wrong, expect=3)
            self.assertIn(f'"{wrong}": {why}', out)

    def test_older_processors(self):
        path = self.program("a", checked("stablehlo.add", "[11.0, 22.0]"))
        self.run_command("execute", path, "--cpu", "x86-64", "--opt-level", "0")
        _, err = self.run_command("execute", path, "--cpu", "z80", expect=1)
        self.assertIn("z80", err)

    def test_nothing_is_left_in_the_temporary_folder(self):
        path = self.program("a", checked("stablehlo.add", "[11.0, 22.0]"))
        folder = self.path("tmp")
        os.mkdir(folder)
        self.run_command("execute", path, env={**os.environ, "TMPDIR": folder})
        self.assertEqual(os.listdir(folder), [])

    def linker_that_hangs(self):
        """An environment with one, and with an empty folder for temporary files."""
        linker = harness.write(self.path("bin", "ld.lld-22"),
                               "#!/bin/sh\ntouch \"$TMPDIR/linking\"\nexec sleep 1000\n")
        os.chmod(linker, 0o755)
        os.mkdir(self.path("tmp"))
        return {**os.environ, "TMPDIR": self.path("tmp"),
                "PATH": self.path("bin") + os.pathsep + os.environ["PATH"]}

    def test_killed_workers_leave_nothing_in_the_temporary_folder(self):
        path = self.program("a", checked("stablehlo.add", "[11.0, 22.0]"))
        environment = self.linker_that_hangs()
        out, _ = self.run_command("execute", path, "--timeout", "2.5", env=environment, expect=3)
        self.assertIn("not done within 2.5 s", out)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_interrupted_programs_leave_nothing_and_what_was_done_is_reported(self):
        self.program("a_unreadable", "func.func @main(")
        self.program("b_links", checked("stablehlo.add", "[11.0, 22.0]"))
        environment = self.linker_that_hangs()
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start("execute", "programs", "--jobs", "1", "--json", env=environment)
            while not glob.glob(self.path("tmp", "*", "linking")):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(number)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, code)
            self.assertEqual(json.loads(out)["counts"], {"unreadable": 1})
            self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_names_of_files_may_have_anything_in_them(self):
        names = ["a b", "c\nd", "e'f\"g$(h)", "\udcff", "-z"]
        for name in names:
            self.program(name, checked("stablehlo.add", "[11.0, 22.0]"))
        out, _ = self.run_command("execute", "programs", "--json", "--jobs", "1")
        programs = json.loads(out)["programs"]
        self.assertEqual(len(programs), len(names))
        self.assertIn("programs/c\nd.mlir", [program["path"] for program in programs])

    def test_closed_standard_streams_harm_nobody(self):
        path = self.program("a", checked("stablehlo.add", "[11.0, 22.0]"))
        self.run_command("execute", path, preexec_fn=lambda: os.close(0))
        self.run_command("execute", path, preexec_fn=lambda: (os.close(0), os.close(2)))
        # What was to be printed is lost, and that is said.
        self.run_command("execute", path, preexec_fn=lambda: os.close(1), expect=4)

    def test_mistakes_are_told_once(self):
        path = self.program("add", ADD)
        _, err = self.run_command("execute", path, "--inputs", "", expect=1)
        self.assertIn("one of the inputs is empty", err)
        nowhere = {**os.environ, "TMPDIR": self.path("nowhere")}
        _, err = self.run_command("execute", path, "--inputs", "ones", env=nowhere, expect=3)
        self.assertIn(f"{self.path('nowhere')} is no folder for temporary files", err)


if __name__ == "__main__":
    harness.main()
