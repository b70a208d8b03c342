"""What the system tests share: modules to sweep, and the command as a process.

Every script is called with the path of the `nocturne` binary. 77 says that a test could not run here.
"""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

BINARY = ""
MACHINES = "H100_SXM_80GB,A100_SXM_80GB"
REPORTS = ("results.csv", "results.jsonl", "summary.json")
NOBODY = 65534


def layer_module(index, layers=3):
    """A chain of matrix products; no two indices have the same shapes."""
    rows, width = 16 + index, 64
    lines = [f"module @m{index} {{",
             f"  func.func @main(%x0: tensor<{rows}x{width}xf32>, %w: tensor<{width}x{width}xf32>)"
             f" -> tensor<{rows}x{width}xf32> {{"]
    here, weights = f"tensor<{rows}x{width}xf32>", f"tensor<{width}x{width}xf32>"
    for layer in range(layers):
        lines.append(f"    %d{layer} = stablehlo.dot_general %x{layer}, %w, contracting_dims = [1] x [0]"
                     f" : ({here}, {weights}) -> {here}")
        lines.append(f"    %x{layer + 1} = stablehlo.tanh %d{layer} : {here}")
    lines += [f"    return %x{layers} : {here}", "  }", "}", ""]
    return "\n".join(lines)


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def rows(directory):
    with open(os.path.join(directory, "results.csv"), newline="") as file:
        return list(csv.DictReader(file))


def integrity(path):
    database = sqlite3.connect(path)
    try:
        return database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()


def query(path, sql):
    database = sqlite3.connect(path)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


class SystemTest(unittest.TestCase):
    """A scratch folder that other users may enter, and ways to run the command in it."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="nocturne-system-")
        os.chmod(self.dir, 0o777)

    def tearDown(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def modules(self, count, folder="models", layers=3):
        for index in range(count):
            write(self.path(folder, f"m{index:03}.mlir"), layer_module(index, layers))
        return self.path(folder)

    def grid(self, name, points, modules="models/*.mlir", **more):
        """A specification with so many points on one axis."""
        values = {"from": 1e12, "to": 4e12, "steps": points}
        machine = {"base": "H100_SXM_80GB", "name": "h100-{memory_bandwidth}",
                   "grid": {"memory_bandwidth": values}}
        return self.specification(name, modules=[modules], hardware=[machine], **more)

    def specification(self, name, **content):
        content.setdefault("estimators", ["roofline"])
        return write(self.path(name), json.dumps(content))

    def start(self, *words, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([BINARY, *words], cwd=self.dir, **options)

    def run_command(self, *words, expect=0, **options):
        """Runs to the end, checks the exit code, and returns (stdout, stderr) as text."""
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=600)
        out, err = out.decode(), err.decode()
        self.assertEqual(process.returncode, expect, f"{words}\n{out}\n{err}")
        return out, err

    def assert_same_reports(self, one, other, names=REPORTS):
        for name in names:
            self.assertEqual(read(os.path.join(one, name)), read(os.path.join(other, name)), name)


def as_nobody():
    """For preexec_fn: gives up root for good."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def main():
    global BINARY
    BINARY = os.path.abspath(sys.argv[1])
    program = unittest.main(module="__main__", argv=[sys.argv[0], "-v", *sys.argv[2:]], exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if len(result.skipped) == result.testsRun else 0)
