"""With --json there is exactly one JSON value on standard output, whatever happens."""

import json

import harness


class Json(harness.SystemTest):
    def value(self, *words, expect=0):
        out, _ = self.run_command(*words, "--json", expect=expect)
        return json.loads(out)

    def test_every_subcommand_prints_exactly_one_value(self):
        self.modules(2)
        self.assertIn("H100_SXM_80GB",
                      {machine["name"] for machine in self.value("hardware", "list")})
        self.assertEqual(self.value("hardware", "show", "A100_SXM_80GB")["vendor"], "NVIDIA")
        self.assertIn("roofline", {entry["name"] for entry in self.value("estimators")})
        plan = self.value("sweep", "models", "--hardware", harness.MACHINES, "--dry-run")
        self.assertEqual((plan["items"], plan["points"]), (4, 2))
        swept = self.value("sweep", "models", "--hardware", harness.MACHINES, "--log-level", "debug")
        self.assertEqual((swept["total"]["ok"], swept["exit_code"]), (4, 0))
        self.assertEqual(self.value("report", "out")["total"]["ok"], 4)

    def test_estimate_has_the_names_of_results_csv(self):
        self.modules(1)
        value = self.value("estimate", "models/m000.mlir", "--hardware", "H100_SXM_80GB")
        self.run_command("sweep", "models", "--hardware", "H100_SXM_80GB")
        row = harness.rows(self.path("out"))[0]
        for name, text in row.items():
            self.assertIn(name, value)
            if name in ("runtime_s", "flops", "bytes", "coverage"):
                self.assertEqual(float(text), value[name], name)
        self.assertEqual(row["fingerprint"], value["fingerprint"])
        names = {operation["name"] for operation in value["ops"]}
        self.assertEqual({"stablehlo.dot_general", "stablehlo.tanh"} - names, set())
        total = sum(operation["total_runtime_s"] for operation in value["ops"])
        self.assertAlmostEqual(total / value["runtime_s"], 1, places=9)
        times = [operation["total_runtime_s"] for operation in value["ops"]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertIn("models/m000.mlir:", value["ops"][0]["place"])

    def test_failures_are_json_as_well(self):
        harness.write(self.path("broken.mlir"), "module {")
        value = self.value("estimate", "broken.mlir", "--hardware", "H100_SXM_80GB", expect=3)
        self.assertEqual((value["status"], value["failure"]["kind"]), ("failed", "unreadable"))
        value = self.value("estimate", "broken.mlir", "--hardware", "H100_SXM", expect=1)
        self.assertEqual(value["error"]["exit_code"], 1)
        self.assertIn("no option", self.value("sweep", "x", "--jbos", "3", expect=1)["error"]["message"])


if __name__ == "__main__":
    harness.main()
