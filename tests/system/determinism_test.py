"""The files of a report do not depend on the number of jobs, nor on whether the cache is warm."""

import harness


class Determinism(harness.SystemTest):
    def sweep(self, spec, out, jobs, *more, expect=3):
        self.run_command("sweep", spec, "--jobs", str(jobs), "--out", out, *more, expect=expect)
        return self.path(out)

    def test_number_of_jobs_changes_no_byte(self):
        self.modules(12)
        # The same content under another name, and one file that cannot be read.
        harness.write(self.path("models", "twin.mlir"), harness.layer_module(0))
        harness.write(self.path("models", "broken.mlir"), "module {")
        spec = self.grid("sweep.json", 600)
        outs = [self.sweep(spec, f"out{jobs}", jobs) for jobs in (1, 2, 8)]
        for out in outs[1:]:
            self.assert_same_reports(outs[0], out)
        self.assertEqual(len(harness.rows(outs[0])), 14 * 600)

    def test_warm_results_are_the_cold_ones(self):
        self.modules(4)
        spec = self.grid("sweep.json", 300)
        cold = self.sweep(spec, "cold", 2, "--cache-dir", "cache", expect=0)
        warm = self.sweep(spec, "warm", 2, "--cache-dir", "cache", expect=0)
        self.assert_same_reports(cold, warm, ("results.csv", "results.jsonl"))
        without = self.sweep(spec, "without", 2, "--disable-cache", expect=0)
        self.assert_same_reports(cold, without, ("results.csv", "results.jsonl"))
        memory = self.sweep(spec, "memory", 2, "--in-memory-only-cache", expect=0)
        self.assert_same_reports(cold, memory)

    def test_report_makes_the_same_files_again(self):
        self.modules(3)
        out = self.sweep(self.grid("sweep.json", 10), "out", 2, expect=0)
        before = {name: harness.read(self.path("out", name)) for name in harness.REPORTS}
        for name in harness.REPORTS:
            harness.write(self.path("out", name), "gone")
        self.run_command("report", out)
        for name, content in before.items():
            self.assertEqual(harness.read(self.path("out", name)), content, name)

    def test_warm_run_parses_nothing(self):
        self.modules(3)
        spec = self.grid("sweep.json", 5)
        self.sweep(spec, "cold", 2, "--cache-dir", "cache", expect=0)
        # Only a run that takes the facts of a file from the cache can know of these collectives.
        database = harness.sqlite3.connect(self.path("cache", "cache.sqlite"))
        with database:
            database.execute("UPDATE files SET collectives = 77")
        database.close()
        warm = self.sweep(spec, "warm", 2, "--cache-dir", "cache", expect=0)
        self.assertEqual({row["collectives"] for row in harness.rows(warm)}, {"77"})


if __name__ == "__main__":
    harness.main()
