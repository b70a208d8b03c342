"""kill -9 at random moments: nothing that was committed is lost, broken or computed again."""

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

    def finish(self, out):
        self.run_command(*self.sweep(out))
        self.assertEqual(harness.integrity(self.path(f"{out}-cache", "cache.sqlite")), "ok")
        self.assertEqual(harness.integrity(self.path(out, "run.sqlite")), "ok")
        self.assertEqual(harness.query(self.path(out, "run.sqlite"), "SELECT * FROM audit"), [])
        self.assert_same_reports(self.path("whole"), self.path(out),
                                 ("results.csv", "results.jsonl"))

    def test_fifty_kills(self):
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
            ended = process.poll() is not None
            process.kill()
            process.communicate()
            if ended:  # the run came to its end before it was killed: check it and begin another
                self.assertEqual(process.returncode, 0)
                self.finish_ended(out)
                turn, committed = turn + 1, set()
                continue
            kills += 1
            now = self.audit(out)
            self.assertLessEqual(committed, now, "a committed shard is gone")
            committed = now
        self.finish(f"out{turn}")

    def finish_ended(self, out):
        self.assertEqual(harness.query(self.path(out, "run.sqlite"), "SELECT * FROM audit"), [])
        self.assert_same_reports(self.path("whole"), self.path(out),
                                 ("results.csv", "results.jsonl"))


if __name__ == "__main__":
    harness.main()
