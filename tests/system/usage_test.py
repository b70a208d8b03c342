"""Mistakes of people: what is wrong, where, and what was probably meant; exit code 1."""

import os

import harness


class Usage(harness.SystemTest):
    def mistake(self, *words):
        out, err = self.run_command(*words, expect=1)
        self.assertEqual(out, "")
        return err

    def test_misspelt_estimator_option_is_told_its_place_and_neighbour(self):
        self.modules(1)
        spec = self.specification(
            "sweep.json", modules=["models/*.mlir"], hardware=["H100_SXM_80GB"],
            estimators=[{"name": "roofline", "set": {"compute_eficiency": 0.5}}])
        err = self.mistake("sweep", spec)
        self.assertIn("/estimators/0/set/compute_eficiency", err)
        self.assertIn('"compute_efficiency"', err)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_misspelt_names_are_told_their_neighbour(self):
        self.modules(1)
        self.assertIn("H100_SXM_80GB", self.mistake("sweep", "models", "--hardware", "H100_SXM_80G"))
        self.assertIn("roofline", self.mistake("sweep", "models", "--hardware", "H100_SXM_80GB",
                                               "--estimator", "rofline"))
        self.assertIn("compute_efficiency", self.mistake(
            "estimate", "models/m000.mlir", "--hardware", "H100_SXM_80GB", "--set",
            "compute_eficiency=1"))

    def test_words_that_do_not_exist_are_named(self):
        self.assertIn('"sweep"', self.mistake("swep"))
        self.assertIn("--hardware", self.mistake("sweep", "models", "--hardwar", "x"))
        self.assertIn("nowhere", self.mistake("sweep", "nowhere", "--hardware", "H100_SXM_80GB"))

    def test_numbers_out_of_range_are_refused(self):
        self.modules(1)
        for words in (("--jobs", "0"), ("--jobs", "1000000"), ("--trip-count", "inf"),
                      ("--trip-count", "-1")):
            err = self.mistake("sweep", "models", "--hardware", "H100_SXM_80GB", *words)
            self.assertIn(words[0], err)

    def test_broken_specification_has_a_place(self):
        spec = harness.write(self.path("sweep.json"), '{\n  "modules": [,]\n}')
        self.assertIn("sweep.json:2:", self.mistake("sweep", spec))

    def test_dry_run_touches_nothing(self):
        self.modules(2)
        spec = self.grid("sweep.json", 300)
        before = sorted(os.listdir(self.dir))
        out, _ = self.run_command("sweep", spec, "--dry-run", "--out", "elsewhere")
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        for text in ("600", "memory_bandwidth[300]", "elsewhere", "4 of up to 256"):
            self.assertIn(text, out)

    def test_settings_reach_the_results(self):
        self.modules(1)
        common = ("sweep", "models", "--hardware", "H100_SXM_80GB", "--out")
        self.run_command(*common, "plain")
        self.run_command(*common, "half", "--set", "bandwidth_scale=0.5", "--set",
                         "compute_scale=0.5")
        plain, half = harness.rows(self.path("plain"))[0], harness.rows(self.path("half"))[0]
        self.assertAlmostEqual(float(half["runtime_s"]) / float(plain["runtime_s"]), 2, places=9)

    def test_fail_fast_stops(self):
        self.modules(1)
        harness.write(self.path("models", "a.mlir"), "module {")
        self.run_command("sweep", "models", "--hardware", "H100_SXM_80GB", "--fail-fast", expect=4)
        self.run_command("sweep", "models", "--hardware", "H100_SXM_80GB", expect=3)

    def test_large_sweep_says_the_end_in_few_lines(self):
        self.modules(4)
        out, err = self.run_command("sweep", self.grid("sweep.json", 300), "--out", "out")
        self.assertLessEqual(out.count("\n"), 40)
        self.assertIn("results.csv", out)
        self.assertEqual(err, "")


if __name__ == "__main__":
    harness.main()
