"""kill -9 at random moments: nothing that was committed is lost, broken or computed again."""

import os
import random
import time

import harness

KILLS = 50
# Notes every shard that is put although it is there already.
AUDIT = """
CREATE TABLE IF NOT EXISTS audit (shard INTEGER);
CREATE TRIGGER IF NOT EXISTS audit_shards BEFORE INSERT ON shards
WHEN EXISTS (SELECT 1 FROM shards WHERE id = NEW.id)
BEGIN INSERT INTO audit VALUES (NEW.id); END;
"""


class Kill(harness.SystemTest):
    def sweep(self, out):
        return ("sweep", self.spec, "--out", out, "--jobs", "2", "--cache-dir", f"{out}-cache")

    def audit(self, out):
        """Checks what a killed run left behind; returns the shards that are committed."""
        record = self.path(out, "run.sqlite")
        try:
            database = harness.sqlite3.connect(f"file:{record}?mode=rw", uri=True)
        except harness.sqlite3.OperationalError:
            return set()  # killed before the record was made
        try:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'shards'").fetchone():
                return set()
            database.executescript(AUDIT)
            return {row[0] for row in database.execute("SELECT id FROM shards")}
        finally:
            database.close()

    def is_complete(self, out):
        record = self.path(out, "run.sqlite")
        if not os.path.exists(record):
            return False
        if not harness.query(record, "SELECT 1 FROM sqlite_master WHERE name = 'run'"):
            return False
        return harness.query(record, "SELECT outcome FROM run") == [("complete",)]

    def check(self, out):
        self.assertEqual(harness.integrity(self.path(f"{out}-cache", "cache.sqlite")), "ok")
        self.assertEqual(harness.integrity(self.path(out, "run.sqlite")), "ok")
        record = self.path(out, "run.sqlite")
        if harness.query(record, "SELECT 1 FROM sqlite_master WHERE name = 'audit'"):
            self.assertEqual(harness.query(record, "SELECT * FROM audit"), [])
        self.assert_same_reports(self.path("whole"), self.path(out),
                                 ("results.csv", "results.jsonl"))

    def test_fifty_kills_lose_nothing_that_was_committed(self):
        self.modules(60)
        self.spec = self.grid("sweep.json", 1280)
        begin = time.monotonic()
        self.run_command("--version")
        startup = time.monotonic() - begin
        begin = time.monotonic()
        self.run_command(*self.sweep("whole"))
        whole = max(time.monotonic() - begin - startup, 0.2)

        random.seed(20240531)
        kills, turn, committed = 0, 0, set()
        while kills < KILLS:
            out = f"out{turn}"
            process = self.start(*self.sweep(out))
            time.sleep(startup + random.random() * whole / 12)
            process.kill()
            process.communicate()
            kills += 1
            now = self.audit(out)
            self.assertTrue(committed <= now, f"committed shards are gone: {committed - now}")
            committed = now
            if self.is_complete(out):
                # The same command would begin anew; only its report may be missing.
                self.run_command("report", out)
                self.check(out)
                turn, committed = turn + 1, set()
        self.run_command(*self.sweep(f"out{turn}"))
        self.check(f"out{turn}")


if __name__ == "__main__":
    harness.main()
