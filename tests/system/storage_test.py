"""Disks that are full, caches that are broken, read-only or gone, folders that cannot be made."""

import os
import sqlite3
import subprocess
import unittest

import harness


class FullDisk(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        mount = ["mount", "-t", "tmpfs", "-o", "size=2M", "nocturne-test", self.disk]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            super().tearDown()
            self.skipTest("cannot mount a small disk here")

    def tearDown(self):
        subprocess.run(["umount", "-l", self.disk], capture_output=True)
        super().tearDown()

    def test_full_disk_stops_the_run_and_keeps_what_is_committed(self):
        self.modules(40)
        spec = self.grid("sweep.json", 1024)
        sweep = ("sweep", spec, "--out", "disk/out", "--cache-dir", "cache", "--jobs", "2")
        _, err = self.run_command(*sweep, expect=4)
        self.assertRegex(err.lower(), "full|space")
        self.assertIn("disk/out", err)
        record = os.path.join(self.disk, "out", "run.sqlite")
        self.assertEqual(harness.integrity(record), "ok")
        grow = ["mount", "-o", "remount,size=200M", self.disk]
        self.assertEqual(subprocess.run(grow).returncode, 0)
        self.run_command(*sweep)
        self.assertEqual({row["status"] for row in harness.rows(os.path.join(self.disk, "out"))},
                         {"ok"})


class BrokenCache(harness.SystemTest):
    def sweep(self, out, expect=0, **options):
        return self.run_command("sweep", "models", "--hardware", harness.MACHINES, "--out", out,
                                "--cache-dir", "cache", expect=expect, **options)

    def test_corrupt_cache_is_kept_aside(self):
        self.modules(3)
        self.sweep("out0")
        path = self.path("cache", "cache.sqlite")
        harness.write(path, b"no database at all" * 1000)
        _, err = self.sweep("out1")
        self.assertIn("warn", err)
        self.assertIn("cache.sqlite", err)
        self.assert_same_reports(self.path("out0"), self.path("out1"))
        self.assertEqual(harness.integrity(path), "ok")
        kept = [name for name in os.listdir(self.path("cache")) if "corrupt" in name]
        self.assertEqual(len(kept), 1)

    def test_missing_cache_is_made(self):
        self.modules(2)
        _, err = self.sweep("out")
        self.assertEqual(err, "")
        self.assertTrue(os.path.exists(self.path("cache", "cache.sqlite")))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_read_only_cache_is_read(self):
        self.modules(3)
        self.sweep("out0")
        for name in os.listdir(self.path("cache")):
            os.chmod(self.path("cache", name), 0o444)
        os.chmod(self.path("cache"), 0o555)
        _, err = self.sweep("out1", preexec_fn=harness.as_nobody)
        self.assertIn("warn", err)
        self.assert_same_reports(self.path("out0"), self.path("out1"),
                                 ("results.csv", "results.jsonl"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_output_folder_that_cannot_be_made_is_named(self):
        self.modules(1)
        os.mkdir(self.path("locked"), 0o755)
        _, err = self.sweep("locked/out", expect=1, preexec_fn=harness.as_nobody)
        self.assertIn("locked/out", err)

    def test_output_folder_that_is_a_file_is_named(self):
        self.modules(1)
        harness.write(self.path("out"), "a file")
        _, err = self.sweep("out", expect=1)
        self.assertIn("out", err)

    def test_report_of_a_damaged_record_is_refused_and_the_sweep_recovers(self):
        self.modules(2)
        self.sweep("out1")
        record = sqlite3.connect(self.path("out1", "run.sqlite"))
        # An uncompressed blob of a tree that ends too early.
        record.execute("UPDATE shards SET statistics = ?", (b"r\x06\x00",))
        record.commit()
        record.close()
        _, err = self.run_command("report", "out1", expect=1)
        self.assertIn("damaged", err)
        self.sweep("out1")

    def test_report_of_nothing_is_refused(self):
        _, err = self.run_command("report", "nowhere", expect=1)
        self.assertIn("nowhere", err)


if __name__ == "__main__":
    harness.main()
