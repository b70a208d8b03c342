"""Signals: the first ends a run in order, the second at once; the same command goes on."""

import os
import signal
import time

import harness


class Interrupt(harness.SystemTest):
    def big_sweep(self):
        self.modules(24)
        return self.grid("sweep.json", 2560)

    def start_sweep(self, spec, out):
        return self.start("sweep", spec, "--out", out, "--jobs", "1")

    def wait_for_items(self, process, out):
        """Until something is committed."""
        record = self.path(out, "run.sqlite")
        for _ in range(2000):
            if process.poll() is not None:
                self.fail("the sweep ended before it could be interrupted")
            try:
                if harness.query(record, "SELECT count(*) FROM shards")[0][0] > 0:
                    return
            except harness.sqlite3.Error:
                pass
            time.sleep(0.01)
        self.fail("nothing was committed")

    def interrupted(self, number, code):
        spec = self.big_sweep()
        process = self.start_sweep(spec, "out")
        self.wait_for_items(process, "out")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, err)
        self.assertIn("stopping: what is in work has 5 s to end", err.decode())
        self.assertIn("nocturne sweep", err.decode())  # how to go on
        states = {row["status"] for row in harness.rows(self.path("out"))}
        self.assertEqual(states, {"ok", "not_run"})
        self.assertEqual(harness.integrity(self.path("out", "run.sqlite")), "ok")
        self.run_command("sweep", spec, "--out", "out")
        self.run_command("sweep", spec, "--out", "whole", "--cache-dir", "other")
        self.assert_same_reports(self.path("out"), self.path("whole"),
                                 ("results.csv", "results.jsonl"))

    def test_interrupted_run_ends_in_order_with_130_and_goes_on(self):
        self.interrupted(signal.SIGINT, 130)

    def test_terminated_run_ends_in_order_with_143_and_goes_on(self):
        self.interrupted(signal.SIGTERM, 143)

    def test_second_signal_ends_at_once(self):
        process = self.start_sweep(self.big_sweep(), "out")
        self.wait_for_items(process, "out")
        # Two of one kind would be one where the first still waits to be taken.
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 143)
        self.assertIn("stopped at once: what is committed is safe", err.decode())
        self.assertEqual(harness.integrity(self.path("out", "run.sqlite")), "ok")

    def test_reader_of_our_output_that_leaves_is_no_error(self):
        self.modules(1)
        ends = os.pipe()
        os.close(ends[0])
        process = self.start("hardware", "list", stdout=ends[1])
        os.close(ends[1])
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, b""))

    def test_output_that_cannot_be_written_exits_with_4(self):
        with open("/dev/full", "wb") as full:
            process = self.start("hardware", "list", stdout=full)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)
        self.assertIn(b"standard output", err)


if __name__ == "__main__":
    harness.main()
