"""The measured estimator: modules are compiled and run here, in processes that may die."""

import glob
import json
import os
import shutil
import signal
import time

import harness

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "first_sweep")
QUICK = ("--set", "repetitions=3", "--set", "min_time_s=0", "--set", "warmup=1")

SUM = """func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.add %a, %b : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""
# The reader takes any custom call; what this one does, nobody can compile.
FOREIGN = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @somebody_elses(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# Adds 0 to a counter until it is 1.
ENDLESS = """func.func @main(%a: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.xor %x, %i : tensor<i32>
      %2 = stablehlo.minimum %i, %zero : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<i32>
    }
  return %0#1 : tensor<i32>
}
"""


def counts(directory):
    timing = json.loads(harness.read(os.path.join(directory, "timing.json")))
    return timing["items_from_cache"]


class Cpu(harness.SystemTest):
    def sweep(self, modules, *words, out="out", expect=0, **options):
        self.run_command("sweep", modules, "--hardware", "H100_SXM_80GB", "--out", out, *words,
                         expect=expect, **options)
        return harness.rows(self.path(out))

    def test_examples_have_times_by_formula_and_by_clock_and_again_from_the_cache(self):
        for path in glob.glob(os.path.join(EXAMPLES, "*.mlir")):
            shutil.copy(path, harness.write(self.path("models", "here"), ""))
            os.replace(self.path("models", "here"), self.path("models", os.path.basename(path)))
        words = ("--estimator", "roofline,cpu", "--cache-dir", "cache", *QUICK)
        first = self.sweep("models", *words, out="first")
        self.assertEqual(len(first), 6)
        for row in first:
            self.assertEqual(row["status"], "ok", row)
            self.assertGreater(float(row["runtime_s"]), 0)
            self.assertEqual(row["coverage"], "1")
        # What a data-sheet promises of an H100 is not what one thread of a processor does.
        times = {(row["module"], row["estimator"]): float(row["runtime_s"]) for row in first}
        for module, estimator in times:
            self.assertGreater(times[module, "cpu"], times[module, "roofline"])
        summary = json.loads(harness.read(self.path("first", "summary.json")))
        self.assertEqual(summary["statistics"]["measurements"]["samples"], 9)
        second = self.sweep("models", *words, out="second")
        self.assertEqual(first, second)
        self.assertEqual(counts(self.path("second")), 6)

    def test_metadata_names_the_processor(self):
        harness.write(self.path("sum.mlir"), SUM)
        out, _ = self.run_command("estimate", "sum.mlir", "--hardware", "H100_SXM_80GB",
                                  "--estimator", "cpu", "--json", *QUICK)
        result = json.loads(out)
        measurement = result["metadata"]["measurement"]
        with open("/proc/cpuinfo") as file:
            self.assertIn(measurement["processor"], file.read())
        self.assertEqual(measurement["repetitions"], 3)
        self.assertEqual(measurement["median_s"], result["runtime_s"])
        self.assertLessEqual(measurement["min_s"], measurement["median_s"])
        self.assertEqual(len(measurement["library"]), 64)

    def test_what_cannot_be_compiled_fails_at_its_place_also_from_the_cache(self):
        harness.write(self.path("models", "foreign.mlir"), FOREIGN)
        harness.write(self.path("models", "sum.mlir"), SUM)
        for out, hits in ("first", 0), ("second", 2):
            foreign, fine = self.sweep("models", "--estimator", "cpu", "--cache-dir", "cache", *QUICK,
                                       out=out, expect=3)
            self.assertEqual((foreign["status"], foreign["failure"]), ("failed", "unsupported_op"))
            self.assertIn("foreign.mlir:2:", foreign["message"])
            self.assertEqual(fine["status"], "ok")
            self.assertEqual(counts(self.path(out)), hits)

    def test_code_that_does_not_end_is_stopped(self):
        harness.write(self.path("models", "endless.mlir"), ENDLESS)
        harness.write(self.path("models", "sum.mlir"), SUM)
        endless, fine = self.sweep("models", "--estimator", "cpu", "--set", "timeout_s=5", *QUICK,
                                   expect=3)
        self.assertEqual(endless["failure"], "timed_out")
        self.assertIn("within 5 s", endless["message"])
        self.assertIn("while its code ran", endless["message"])
        self.assertEqual(fine["status"], "ok")

    def test_a_process_that_dies_fails_its_module_alone(self):
        # Whatever ends the process that measures, the sweep goes on.
        process, child = self.start_endless()
        os.kill(child, 11)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        row, = harness.rows(self.path("out"))
        self.assertEqual(row["failure"], "crashed")
        self.assertIn("SIGSEGV", row["message"])

    def test_a_stop_ends_a_measurement_and_leaves_its_item_to_do(self):
        process, child = self.start_endless()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        row, = harness.rows(self.path("out"))
        self.assertEqual(row["status"], "not_run")

    def start_endless(self):
        """A sweep that will not end, and the process that measures for it."""
        harness.write(self.path("endless.mlir"), ENDLESS)
        process = self.start("sweep", "endless.mlir", "--hardware", "H100_SXM_80GB", "--estimator",
                             "cpu", *QUICK)
        deadline = time.monotonic() + 60
        child = None
        while child is None and time.monotonic() < deadline:
            time.sleep(0.2)
            child = running_measurement(process.pid)
        self.assertIsNotNone(child, "no process measures")
        return process, child

    def test_other_options_are_other_results(self):
        harness.write(self.path("sum.mlir"), SUM)
        words = ("--estimator", "cpu", "--cache-dir", "cache", *QUICK)
        for more, hits in ((), 0), ((), 1), (("--set", "arch=x86-64"), 0), (("--set", "seed=4"), 0):
            self.sweep("sum.mlir", *words, *more)
            self.assertEqual(counts(self.path("out")), hits, more)

    def test_mistakes_in_options_are_told(self):
        harness.write(self.path("sum.mlir"), SUM)
        for setting, word in ("arch=z80", "z80"), ("entry=mian", "main"):
            row, = self.sweep("sum.mlir", "--estimator", "cpu", "--set", setting, *QUICK, expect=3)
            self.assertEqual(row["failure"], "bad_config")
            self.assertIn(word, row["message"])

    def test_libraries_are_kept_with_the_cache_or_not_at_all(self):
        harness.write(self.path("sum.mlir"), SUM)
        os.mkdir(self.path("tmp"))
        environment = {**os.environ, "TMPDIR": self.path("tmp")}
        words = ("sum.mlir", "--estimator", "cpu", *QUICK)
        self.sweep(*words, "--disable-cache", env=environment)
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assertFalse(os.path.exists(self.path("out", "cache")))
        self.sweep(*words, "--cache-dir", "cache", env=environment)
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assertTrue(os.listdir(self.path("cache", "kernels")))
        # Another number of samples is another result, but of the same library.
        self.sweep(*words, "--cache-dir", "cache", "--set", "repetitions=4")
        summary = json.loads(harness.read(self.path("out", "summary.json")))
        self.assertEqual(summary["statistics"]["measurements"]["libraries_built"], 0)


def running_measurement(parent):
    """The child that measures, once it runs code: it has used a second of processor time."""
    ticks = os.sysconf("SC_CLK_TCK")
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as file:
                fields = file.read().rsplit(")", 1)[1].split()
            with open(os.path.join(os.path.dirname(stat), "cmdline"), "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue  # gone meanwhile
        used = (int(fields[11]) + int(fields[12])) / ticks
        if int(fields[1]) == parent and b"measure-module" in words and used > 1:
            return int(os.path.basename(os.path.dirname(stat)))
    return None


if __name__ == "__main__":
    harness.main()
