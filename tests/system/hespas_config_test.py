"""Configuration files of hespas, unmodified: one for each of their keys, and for each estimator.

The programs that some estimators need are stood in for by a few lines of shell in a $PATH of ours.
"""

import json
import os
import shutil

import harness

MACHINE = {"peak_flops": 312e12, "memory_bandwidth": 1935e9}

# Reads its layer, and its memory from the folder it is started in, as the real one does.
PERF_MODEL = """test -d dramsim3 || exit 4
echo "$@" >> "$SEEN"
while test $# -gt 0; do case $1 in -i) read name m k n < "$2";; esac; shift; done
echo "processing $name $m $k $n"
echo "Time: $m.5 µs"
"""
XLA_TRANSLATE = 'echo "$@" >> "$SEEN"; echo HLO > "$3"'
HLO_RUNNER = """echo "$@" >> "$SEEN"
for t in 9000 2000 4000; do echo "Execution time, file=x duration=${t}ns" >&2; done
"""
IREE_COMPILE = """echo "$@" >> "$SEEN"
for word; do case $word in -o=*) echo x > "${word#-o=}";; esac; done
"""
IREE_BENCHMARK = """echo "$@" >> "$SEEN"
run() { echo "{\\"run_type\\": \\"iteration\\", \\"real_time\\": $1, \\"time_unit\\": \\"ms\\"}"; }
echo "{\\"benchmarks\\": [$(run 9), $(run 2), $(run 4)]}"
"""


class Configuration(harness.SystemTest):
    def setUp(self):
        super().setUp()
        harness.write(self.path("m.mlir"), harness.layer_module(0))
        os.mkdir(self.path("bin"))
        self.seen = self.path("seen")
        self.environment = dict(os.environ, SEEN=self.seen,
                                PATH=self.path("bin") + os.pathsep + os.environ["PATH"])

    def program(self, name, script):
        path = harness.write(self.path("bin", name), "#!/bin/sh\n" + script)
        os.chmod(path, 0o755)
        return path

    def config(self, method="roofline", hardware=MACHINE, beside=None, **more):
        content = {"mlir_file": "m.mlir", "output_dir": "out",
                   "perf_estimator": {"method": method, **(beside or {})}, **more}
        if hardware is not None:
            content["perf_estimator"]["hardware"] = hardware
        return content

    def run_config(self, content, *words, expect=0):
        harness.write(self.path("config.json"), json.dumps(content))
        out, err = self.run_command("run", "--config-file", "config.json", "--json", *words,
                                    expect=expect, env=self.environment)
        return json.loads(out) if expect == 0 else None, err

    def seen_words(self):
        return harness.read(self.seen).decode()

    def result(self, content, *words):
        return self.run_config(content, *words)[0]

    def roofline(self):
        return self.result(self.config())["runtime_estimate"]


class Keys(Configuration):
    def test_mlir_file(self):
        harness.write(self.path("other.mlir"), harness.layer_module(5))
        other = self.result(self.config(mlir_file="other.mlir"))
        self.assertEqual(other["module_file"], "other.mlir")
        self.assertTrue(other["success"])
        given = self.result(self.config(mlir_file="none.mlir"), "--mlir-file", "other.mlir")
        self.assertEqual(given["runtime_estimate"], other["runtime_estimate"])

    def test_mlir_file_that_is_not_there_or_not_named(self):
        _, err = self.run_config(self.config(mlir_file="none.mlir"), expect=3)
        self.assertIn("none.mlir", err)
        content = self.config()
        del content["mlir_file"]
        _, err = self.run_config(content, expect=1)
        self.assertIn("--mlir-file is missing", err)

    def test_output_dir(self):
        result = self.result(self.config(output_dir="some/where"))
        self.assertEqual(json.loads(harness.read(self.path("some", "where", "result.json"))), result)

    def test_method(self):
        for method in ("roofline", "ROOFLINE", "Roofline"):
            with self.subTest(method=method):
                result, err = self.run_config(self.config(method))
                self.assertTrue(result["success"])
                self.assertIn(f"method {method} is our estimator roofline; its rules differ", err)
        _, err = self.run_config(self.config("rooflin"), expect=1)
        self.assertIn('did you mean "roofline"', err)
        _, err = self.run_config({"mlir_file": "m.mlir", "perf_estimator": {"hardware": MACHINE}},
                                 expect=1)
        self.assertIn('config.json: /perf_estimator: there is no "method"', err)

    def test_hardware(self):
        slow = self.result(self.config(hardware={**MACHINE, "memory_bandwidth": 1e6}))
        self.assertGreater(slow["runtime_estimate"], 1000 * self.roofline())
        _, err = self.run_config(self.config(hardware=3), expect=1)
        self.assertIn("/perf_estimator/hardware: expected an object, not 3", err)

    def test_absent_hardware_names_what_is_needed(self):
        _, err = self.run_config(self.config(hardware=None), expect=1)
        for word in ("config.json", "peak_flops", "memory_bandwidth"):
            self.assertIn(word, err)
        self.program("xla-translate", XLA_TRANSLATE)
        self.program("hlo_runner_main", HLO_RUNNER)
        self.assertTrue(self.result(self.config("xla", hardware=None))["success"])

    def test_num_npus(self):
        with_count = self.config(hardware={**MACHINE, "num_npus": 64})
        self.assertEqual(self.result(with_count)["runtime_estimate"], self.roofline())
        self.assertTrue(self.result(with_count, "--num-npus=8")["success"])
        _, err = self.run_config(self.config(hardware={**MACHINE, "num_npus": 0}), expect=1)
        self.assertIn("/perf_estimator/hardware/num_npus", err)

    def test_what_has_no_effect_is_said_and_changes_nothing(self):
        plain = self.roofline()
        values = {"split_strategy": "individual_split", "block_lim": 1024, "merge": True,
                  "separator": "is_communication_op", "separator_policy": "isolated",
                  "separator_node_type": "comm_coll_node", "clean": True, "num_threads": 4,
                  "in_memory_only_cache": True}
        for key, value in values.items():
            with self.subTest(key=key):
                result, err = self.run_config(self.config(**{key: value}))
                self.assertIn(f"note: /{key} has no effect: ", err)
                self.assertEqual(result["runtime_estimate"], plain)

    def is_hit(self, content, *words):
        harness.write(self.path("config.json"), json.dumps(content))
        out, _ = self.run_command("run", "--config-file", "config.json", *words,
                                  env=self.environment)
        return "from the cache" in out

    def test_cache_dir_is_hit_by_the_next_process(self):
        config = self.config(cache_dir="kept")
        self.assertFalse(self.is_hit(config))
        self.assertTrue(os.path.exists(self.path("kept", "cache.sqlite")))
        self.assertTrue(self.is_hit(config))
        # What a hit says is what the first estimate said.
        self.assertEqual(self.result(config), self.result(self.config(cache_dir="other")))
        # Another place with the same content, and what has no influence: the same keys.
        shutil.move(self.path("kept"), self.path("moved"))
        moved = self.config(hardware={**MACHINE, "cache_dir": "moved"}, cache_dir="nowhere")
        self.assertTrue(self.is_hit(moved))
        self.assertFalse(os.path.exists(self.path("nowhere")))
        self.assertFalse(self.is_hit(moved, "--peak-flops=1e12"))
        self.assertTrue(self.is_hit(moved, "--peak-flops=1e12"))

    def test_a_cache_that_is_disabled_or_in_memory_leaves_no_file(self):
        inside = {**MACHINE, "cache_dir": "kept"}
        for config in (self.config(hardware={**inside, "disable_cache": True}),
                       self.config(hardware={**inside, "in_memory_only_cache": True}),
                       self.config(cache_dir="kept", disable_cache=True)):
            with self.subTest(config=config):
                self.assertFalse(self.is_hit(config))
                self.assertFalse(self.is_hit(config))
                self.assertFalse(os.path.exists(self.path("kept")))

    def test_a_cache_folder_that_cannot_be_used_costs_its_hits_only(self):
        harness.write(self.path("file"), "no folder")
        result, err = self.run_config(self.config(cache_dir="file/cache"))
        self.assertTrue(result["success"])
        self.assertIn("warning: result cache: ", err)

    def test_clean_leaves_the_output_folder_alone(self):
        kept = harness.write(self.path("out", "mine.txt"), "mine")
        self.run_config(self.config(clean=True))
        self.assertEqual(harness.read(kept), b"mine")

    def test_keys_beside_the_hardware(self):
        for key in ("cache_dir", "disable_cache", "in_memory_only_cache"):
            with self.subTest(key=key):
                value = "kept" if key == "cache_dir" else True
                result, err = self.run_config(self.config(beside={key: value}))
                self.assertIn(f"note: /perf_estimator/{key} has no effect: ", err)
                self.assertTrue(result["success"])
                inside = self.result(self.config(hardware={**MACHINE, key: value}))
                self.assertEqual(inside["runtime_estimate"], result["runtime_estimate"])

    def test_strict_json_names_line_and_column(self):
        # As a published preset has it: no comma after f16.
        harness.write(self.path("config.json"), """{
    "mlir_file": "m.mlir",
    "perf_estimator": {
        "method": "roofline",
        "hardware": {
            "peak_flops": 7.8e12,
            "per_datatype_flops": {
                "f16": 125e12
                "i8": 15.7e12
            }
        }
    }
}
""")
        _, err = self.run_command("run", "--config-file", "config.json", expect=1)
        self.assertIn("config.json:9:17", err)


class Estimators(Configuration):
    def test_roofline(self):
        hardware = {**MACHINE, "per_datatype_flops": {"f32": 19.5e12}, "tdp_W": 400,
                    "hbm_power_ratio": 0.3, "warn_on_unknown_type": True, "type": "gpu",
                    "error_on_unknown_type": False}
        result, err = self.run_config(self.config(hardware=hardware))
        self.assertTrue(result["success"])
        text = self.run_command("run", "--config-file", "config.json")[0]
        self.assertIn("Total energy", text)
        for key in ("warn_on_unknown_type", "type"):
            self.assertIn(f"/perf_estimator/hardware/{key} has no effect", err)
        theirs, err = self.run_config(self.config(hardware=hardware), "--hespas-numbers")
        self.assertGreater(theirs["runtime_estimate"], 0)
        self.assertIn("/perf_estimator/hardware/hbm_power_ratio has no effect", err)
        # An estimator on the command line has the last word, also about what options mean.
        named = self.result(self.config("onnxim", hardware=hardware), "roofline_hespas")
        self.assertEqual(named["runtime_estimate"], theirs["runtime_estimate"])

    def test_cocossim(self):
        self.program("perf_model", PERF_MODEL)
        os.mkdir(self.path("bin", "dramsim3"))
        hardware = {"chips": 1, "frequency": 0.94,
                    "roofline": {**MACHINE, "tdp_W": 400, "warn_on_unknown_type": True}}
        result, err = self.run_config(self.config("COCOSSim", hardware=hardware))
        self.assertTrue(result["success"])
        # Three equal products, simulated once; 16 rows are 16.5 us.
        self.assertGreater(result["runtime_estimate"], 3 * 16.5e-6)
        self.assertLess(result["runtime_estimate"], 3 * 16.6e-6)
        self.assertEqual(result["metadata"]["cocossim"], {"simulations": 1})
        self.assertEqual(self.seen_words().count("\n"), 1)
        self.assertTrue(self.seen_words().startswith(
            "-c 1 -sa_sz 128 -vu_sz 1024 -ws 1 -f 0.94 -i "))
        self.assertIn("/perf_estimator/hardware/roofline/warn_on_unknown_type has no effect", err)
        self.assertIn("flops_util", result["statistics"])

    def test_cocossim_elsewhere(self):
        path = self.program("model of mine", PERF_MODEL)
        os.mkdir(self.path("bin", "dramsim3"))
        hardware = {"cocossim_path": os.path.relpath(path, self.dir), "roofline": MACHINE}
        self.assertTrue(self.result(self.config("cocossim", hardware=hardware))["success"])

    def test_cocossim_in_a_sweep_takes_the_machine_of_the_point(self):
        path = self.program("model", PERF_MODEL)
        os.mkdir(self.path("bin", "dramsim3"))
        self.specification("spec.json", modules=["m.mlir"], hardware=["A40", "L40S"],
                           estimators=[{"name": "cocossim", "set": {"cocossim_path": path}}])
        self.run_command("sweep", "spec.json", "--out", "out", "--jobs", "2", env=self.environment)
        times = [float(row["runtime_s"]) for row in harness.rows(self.path("out"))]
        self.assertEqual(len(times), 2)
        for time in times:
            self.assertGreater(time, 3 * 16.5e-6)

    def test_cocossim_that_fails_is_a_failed_item_with_its_place(self):
        hardware = {"roofline": MACHINE}
        _, err = self.run_config(self.config("cocossim", hardware=hardware), expect=3)
        self.assertIn("perf_model", err)
        self.program("perf_model", "echo no memory >&2; exit 2")
        _, err = self.run_config(self.config("cocossim", hardware=hardware), expect=3)
        self.assertIn("perf_model: exit status 2: no memory", err)
        self.assertIn("m.mlir:3:", err)
        self.assertIn("16x64 by 64x64 of f32", err)

    def test_xla(self):
        self.program("xla-translate", XLA_TRANSLATE)
        self.program("hlo_runner_main", HLO_RUNNER)
        hardware = {"translate": {"target_backend": "cuda"}, "sample": False,
                    "xla_translate_path": "xla-translate",
                    "hlo_runner_main_path": "hlo_runner_main"}
        result, err = self.run_config(self.config("xla", hardware=hardware,
                                                  beside={"in_memory_only_cache": True}))
        self.assertAlmostEqual(result["runtime_estimate"], 3e-6)
        for key in ("hardware/translate", "hardware/sample", "in_memory_only_cache"):
            self.assertIn(f"/perf_estimator/{key} has no effect", err)

    def test_iree(self):
        self.program("iree-compile", IREE_COMPILE)
        self.program("iree-benchmark-module", IREE_BENCHMARK)
        hardware = {"iree_compile": "iree-compile", "iree_benchmark": "iree-benchmark-module",
                    "mlir_function_name": "main", "sample": False,
                    "compile": {"target-backends": "vmvx", "device": "local-sync",
                                "extra-args": ["--iree-llvmcpu-target-cpu=host"],
                                "extra-runtime-args": ["--benchmark_repetitions=5"],
                                "comment": "mine"}}
        result, err = self.run_config(self.config("iree", hardware=hardware))
        self.assertAlmostEqual(result["runtime_estimate"], 3e-3)
        words = self.seen_words()
        for word in ("--iree-hal-target-backends=vmvx", "--iree-llvmcpu-target-cpu=host",
                     "--device=local-sync", "--function=main", "--benchmark_repetitions=5",
                     "--input=16x64xf32=1"):
            self.assertIn(word, words)
        for key in ("sample", "compile/comment"):
            self.assertIn(f"/perf_estimator/hardware/{key} has no effect", err)

    def test_iree_mistakes_have_the_place_in_the_file(self):
        for value, place in ((3, "compile"), ({"device": 3}, "compile/device"),
                             ({"extra-args": [3]}, "compile/extra-args")):
            with self.subTest(value=value):
                _, err = self.run_config(self.config("iree", hardware={"compile": value}), expect=1)
                self.assertIn(f"config.json: /perf_estimator/hardware/{place}: expected", err)

    def test_programs_that_are_missing_are_named(self):
        for method, program in (("xla", "xla-translate"), ("iree", "iree-compile")):
            with self.subTest(method=method):
                path = self.path("bin")
                harness.write(self.path("config.json"), json.dumps(self.config(method, hardware={})))
                _, err = self.run_command("run", "--config-file", "config.json", expect=3,
                                          env=dict(self.environment, PATH=path))
                self.assertIn(f'there is no program "{program}"', err)

    def test_simulators_that_are_refused(self):
        for method in ("onnxim", "ONNXim", "zigzag_onnx"):
            with self.subTest(method=method):
                _, err = self.run_config(self.config(method, hardware={"frequency": 1e9}), expect=1)
                self.assertIn("config.json: /perf_estimator/method: there is no estimator for", err)
                self.assertIn("ONNX model", err)

    def test_programs_that_are_missing_are_listed(self):
        listed = json.loads(self.run_command("estimators", "--json",
                                             env=dict(self.environment, PATH=self.path("bin")))[0])
        by_name = {one["name"]: one for one in listed}
        self.assertEqual(by_name["cocossim"]["unavailable"],
                         "there is no program perf_model in $PATH")
        self.assertIsNone(by_name["simulator"]["unavailable"])
        self.assertFalse(by_name["simulator"]["confined_to_one_actor"])
        options = {one["path"]: one for one in by_name["cocossim"]["options"]}
        self.assertEqual(options["frequency"]["default"], 0.94)
        self.assertIn("roofline.peak_flops", options)
        text = self.run_command("estimators", env=self.environment)[0]
        self.assertIn("transpose_tall", text)


if __name__ == "__main__":
    harness.main()
