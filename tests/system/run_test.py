"""nocturne run: one module as a configuration file of hespas says."""

import json

import harness


class Run(harness.SystemTest):
    def setUp(self):
        super().setUp()
        harness.write(self.path("m.mlir"), harness.layer_module(0))
        self.hardware = {"peak_flops": 312e12, "memory_bandwidth": 1935e9}

    def config(self, **changes):
        content = {"mlir_file": "m.mlir", "output_dir": "out",
                   "perf_estimator": {"method": "roofline", "hardware": self.hardware}}
        content.update(changes)
        return harness.write(self.path("config.json"), json.dumps(content))

    def result(self, *words, **options):
        out, err = self.run_command("run", *words, "--json", **options)
        return json.loads(out), err

    def test_a_configuration_file_runs_unmodified(self):
        result, _ = self.result("--config-file", self.config())
        self.assertEqual(list(result), ["success", "runtime_estimate", "metadata", "module_file",
                                        "module_idx", "statistics"])
        self.assertTrue(result["success"])
        self.assertGreater(result["runtime_estimate"], 0)
        self.assertEqual(json.loads(harness.read(self.path("out", "result.json"))), result)

    def test_hespas_numbers_are_those_of_its_roofline(self):
        ours, _ = self.result("--config-file", self.config())
        theirs, _ = self.result("--config-file", self.config(), "--hespas-numbers")
        again, _ = self.result("roofline_hespas", "--config-file", self.config())
        self.assertEqual(theirs["runtime_estimate"], again["runtime_estimate"])
        self.assertEqual(ours["statistics"]["operators_processed"],
                         theirs["statistics"]["operators_processed"])

    def test_options_of_the_command_line_win_by_their_flat_names(self):
        slow, _ = self.result("--config-file", self.config(), "--memory-bandwidth=1e6")
        fast, _ = self.result("--config-file", self.config())
        self.assertGreater(slow["runtime_estimate"], 1000 * fast["runtime_estimate"])
        nested, _ = self.result("systolic", "--mlir-file", "m.mlir", "--rows=128", "--columns=128",
                                "--roofline-peak-flops=1e12", "--roofline-memory-bandwidth=1e12")
        self.assertEqual(nested["metadata"]["systolic"]["frequency_hz"], 1e12 / (2 * 128 * 128))

    def test_mistakes_name_their_place(self):
        cases = {
            '{"mlir_file": "m.mlir"\n "output_dir": "out"}': "config.json:2:2",
            json.dumps({"mlir_file": "m.mlir", "perf_estimator": {}}): "/perf_estimator: there is no",
            json.dumps({"mlir_file": "m.mlir", "perf_estimator": {
                "method": "roofline", "hardware": {"peak_flop": 1}}}): "peak_flops",
            json.dumps({"mlir_file": "m.mlir", "perf_estimator": {"method": "onnxim"}}): "ONNX",
        }
        for content, word in cases.items():
            with self.subTest(content=content):
                harness.write(self.path("config.json"), content)
                _, err = self.run_command("run", "--config-file", "config.json", expect=1)
                self.assertIn(word, err)
                self.assertIn("config.json", err)
        _, err = self.run_command("run", "roofline", "--mlir-file", "m.mlir", "--peak-flosp=1",
                                  expect=1)
        self.assertIn("--peak-flops", err)

    def test_a_module_that_cannot_be_read_is_a_failed_item(self):
        _, err = self.run_command("run", "roofline", "--mlir-file", "none.mlir", "--peak-flops=1",
                                  "--memory-bandwidth=1", expect=3)
        self.assertIn("none.mlir", err)


if __name__ == "__main__":
    harness.main()
