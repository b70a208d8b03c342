"""Several sweeps at once: one cache is shared without a lock error, one output folder is not."""

import harness


class SharedCache(harness.SystemTest):
    def test_two_sweeps_share_one_cache(self):
        self.modules(20)
        spec = self.grid("sweep.json", 512)
        runs = [self.start("sweep", spec, "--out", f"out{i}", "--cache-dir", "cache", "--jobs", "2")
                for i in range(2)]
        for process in runs:
            _, err = process.communicate(timeout=600)
            self.assertEqual(process.returncode, 0, err.decode())
            self.assertNotIn("lock", err.decode().lower())
        self.assert_same_reports(self.path("out0"), self.path("out1"),
                                 ("results.csv", "results.jsonl"))
        self.assertEqual(harness.integrity(self.path("cache", "cache.sqlite")), "ok")

    def test_second_sweep_in_one_output_folder_is_refused(self):
        self.modules(60)
        spec = self.grid("sweep.json", 2560)
        first = self.start("sweep", spec, "--out", "out", "--jobs", "1")
        try:
            while not harness.os.path.exists(self.path("out", "run.sqlite")):
                self.assertIsNone(first.poll())
            _, err = self.run_command("sweep", spec, "--out", "out", expect=1)
            self.assertIn(str(first.pid), err)
        finally:
            first.kill()
            first.communicate()


if __name__ == "__main__":
    harness.main()
