"""roofline_hespas gives the numbers that the Python tool gives for its own modules.

The expected rows were printed by that tool: runtime in microseconds, FLOPs and bytes of all computing
operations, and how many operations there are.
"""

import json
import os
import unittest

import harness

CORPUS = os.environ.get("NOCTURNE_CORPUS") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "corpus")
FIXTURES = os.path.join(CORPUS, "hespas-fixtures")

FLAT = "A100 flat"
# module, machine, runtime (us), flops, bytes, operations, collectives' bytes
ROWS = """
test_dependency_graph | A100 flat | 2.777 | 33882112 | 5373964 | 14 | 262144
test_dependency_graph | hespas/A100_SXM_40GB | 3.456 | 33882112 | 5373964 | 14 | 262144
test_no_comm_graph | A100 flat | 3.048 | 33947648 | 5898252 | 14 | 0
test_split_replica_groups | A100 flat | 1.016 | 33685504 | 1966080 | 6 | 524288
convolution | A100 flat | 0.00012 | 72 | 232 | 2 | 0
jax_example | A100 flat | 74.783 | 1229796365 | 144704320 | 168 | 7454760
jax_example | hespas/A100_SXM_40GB | 93.057 | 1229796365 | 144704320 | 168 | 7454760
jax_example | hespas/H100_80GB | 43.195 | 1229796365 | 144704320 | 168 | 7454760
jax_example | hespas/B200_180GB | 18.793 | 1229796365 | 144704320 | 168 | 7454760
jax_example | hespas/TPUv3 | 337.149 | 1229796365 | 144704320 | 168 | 7454760
resnet_50_inference_step_4_devices_1024_batch | A100 flat | 111921.877 | 2112249808872 | 211165936160 | 1139 | 0
resnet_50_train_step_4_devices_1024_batch | A100 flat | 377082.451 | 7754677889963 | 704370137783 | 9950 | 102865576
resnet_50_train_step_4_devices_1024_batch | hespas/A100_SXM_40GB | 464353.336 | 7754677889963 | 704370137783 | 9950 | 102865576
resnet_50_train_step_4_devices_1024_batch | hespas/H100_80GB | 213031.995 | 7754677889963 | 704370137783 | 9950 | 102865576
"""


@unittest.skipUnless(os.path.isdir(FIXTURES), "needs the modules of the Python tool")
class Fixtures(harness.SystemTest):
    def test_rows_are_those_of_the_python_tool(self):
        expected = [[field.strip() for field in line.split("|")] for line in ROWS.strip().splitlines()]
        names = sorted({row[0] for row in expected})
        machines = sorted({row[1] for row in expected} - {FLAT})
        flat = {"name": FLAT, "peak_flops": 312e12, "memory_bandwidth": 1935e9}
        spec = self.specification(
            "sweep.json", estimators=["roofline_hespas"], hardware=[flat, *machines],
            modules=[os.path.join(FIXTURES, f"hespas__{name}.mlir") for name in names])
        self.run_command("sweep", spec)
        got = {(os.path.basename(row["module"]), row["hardware"]): row
               for row in harness.rows(self.path("out"))}
        for name, machine, microseconds, flops, bytes_moved, _, collective_bytes in expected:
            with self.subTest(name=name, machine=machine):
                row = got[f"hespas__{name}.mlir", machine]
                decimals = len(microseconds.split(".")[1])
                self.assertEqual(f"{float(row['runtime_s']) * 1e6:.{decimals}f}", microseconds)
                self.assertEqual((row["flops"], row["bytes"], row["collective_bytes"]),
                                 (flops, bytes_moved, collective_bytes))

    def test_counts_of_operations_are_those_of_the_python_tool(self):
        machine = harness.write(self.path("flat.json"), json.dumps(
            {"name": FLAT, "peak_flops": 312e12, "memory_bandwidth": 1935e9}))
        counts = {row.split("|")[0].strip(): int(row.split("|")[5]) for row in ROWS.strip().splitlines()}
        for name, count in counts.items():
            with self.subTest(name=name):
                out, _ = self.run_command(
                    "estimate", os.path.join(FIXTURES, f"hespas__{name}.mlir"),
                    "--estimator", "roofline_hespas", "--hardware", machine, "--json")
                self.assertEqual(json.loads(out)["statistics"]["operators_processed"], count)


if __name__ == "__main__":
    harness.main()
