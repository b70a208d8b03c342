"""Estimators from shared libraries: built against the installed package, loaded, and refused."""

import json
import os
import shutil
import subprocess

import harness

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
EXAMPLE = os.path.join(EXAMPLES, "plugin")
LIBRARY = os.path.join(EXAMPLES, "library")
SORT = """module {
  func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
    %0 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
    return %0 : tensor<1000xf32>
  }
}
"""


class Plugin(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.built = harness.tempfile.mkdtemp(prefix="nocturne-plugin-")
        cls.prefix = os.path.join(cls.built, "installed")
        cmake = os.environ["NOCTURNE_CMAKE"]
        run = lambda *words: subprocess.run(words, check=True, capture_output=True)
        run(cmake, "--install", os.environ["NOCTURNE_BUILD"], "--prefix", cls.prefix)
        run(cmake, "-S", EXAMPLE, "-B", cls.built + "/build", "-DCMAKE_PREFIX_PATH=" + cls.prefix)
        run(cmake, "--build", cls.built + "/build")
        cls.library = cls.built + "/build/libfriction.so"
        run(cmake, "-S", LIBRARY, "-B", cls.built + "/program", "-DCMAKE_PREFIX_PATH=" + cls.prefix)
        run(cmake, "--build", cls.built + "/program")
        cls.program = cls.built + "/program/estimate_files"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.built, ignore_errors=True)

    def compiled(self, name, source):
        """A library of a few lines, against the installed headers."""
        file = harness.write(self.path(name + ".cpp"), source)
        library = self.path(name + ".so")
        subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-I", self.prefix + "/include/nocturne",
                        file, "-L", self.prefix + "/lib", "-lnocturne_estimator", "-o", library],
                       check=True, capture_output=True)
        return library

    def test_installed_headers_build_an_estimator_that_sweeps(self):
        harness.write(self.path("sort.mlir"), SORT)
        out, _ = self.run_command("estimators", "--plugin", self.library, "--json")
        self.assertIn("friction", [one["name"] for one in json.loads(out)])
        self.run_command("sweep", "sort.mlir", "--hardware", "H100_SXM_80GB", "--estimator",
                         "roofline,friction", "--plugin", self.library)
        roofline, friction = harness.rows(self.path("out"))
        # 8000 bytes once, and four times.
        self.assertEqual((roofline["bytes"], friction["bytes"]), ("8000", "32000"))
        self.assertAlmostEqual(float(friction["runtime_s"]) / float(roofline["runtime_s"]), 4)

    def test_an_estimator_of_a_plugin_builds_on_measured_times(self):
        harness.write(self.path("sort.mlir"), SORT)
        words = ("sweep", "sort.mlir", "--hardware", "H100_SXM_80GB,A100_SXM_80GB", "--estimator", "scaled",
                 "--plugin", os.path.join(os.path.dirname(self.library), "libscaled.so"),
                 "--set", "cpu.repetitions=3", "--set", "cpu.min_time_s=0")
        self.run_command(*words)
        rows = harness.rows(self.path("out"))
        self.assertEqual([row["status"] for row in rows], ["ok", "ok"], rows)
        for row in rows:
            # Thousand numbers are sorted within a second, on whichever computer.
            self.assertTrue(0 < float(row["runtime_s"]) < 1, row)
        self.run_command(*words, "--out", "again", "--cache-dir", "out/cache")
        self.assertEqual(harness.rows(self.path("again")), rows)

    def test_a_program_estimates_files_and_hits_the_next_time(self):
        harness.write(self.path("sort.mlir"), SORT)
        words = [self.program, "1e15", "1e12", "sort.mlir", "sort.mlir"]
        run = lambda: subprocess.run(words, cwd=self.path(), check=True, capture_output=True,
                                     text=True).stdout
        # 8000 bytes at 1 TB/s.
        self.assertIn("sort.mlir: 0.008 us\nsort.mlir: 0.008 us, from the cache\n", run())
        self.assertEqual(run().count("from the cache"), 2)
        self.assertTrue(os.path.exists(self.path("estimates", "cache.sqlite")))

    def test_events_and_metadata_of_a_sweep_do_not_depend_on_the_actors(self):
        for i in range(5):
            harness.write(self.path("models", f"{i}.mlir"), SORT.replace("1000", str(1000 + i)))
        seen = []
        for jobs in (1, 2, 8):
            out = f"out{jobs}"
            self.run_command("sweep", "models", "--hardware", "H100_SXM_80GB,A100_SXM_80GB",
                             "--estimator", "friction", "--plugin", self.library, "--out", out,
                             "--jobs", str(jobs))
            summary = json.loads(harness.read(self.path(out, "summary.json")))
            self.assertEqual(summary["metadata"], {"friction": {"distinct_sorts": 10}})
            seen.append(harness.read(self.path(out, "events.json")))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        stream = json.loads(seen[0])
        self.assertEqual(stream["version"], "0.0.1")
        self.assertEqual([event["event_name"] for event in stream["events"]], ["begin", "end"] * 10)
        first = stream["events"][0]
        self.assertEqual(set(first), {"event_name", "timestamp", "timeunit", "metadata"})
        self.assertEqual([event["metadata"]["hardware"] for event in stream["events"][:4]],
                         ["H100_SXM_80GB"] * 2 + ["A100_SXM_80GB"] * 2)
        # What a report makes again is the same; a run without events leaves no file.
        os.remove(self.path("out8", "events.json"))
        self.run_command("report", "out8")
        self.assertEqual(harness.read(self.path("out8", "events.json")), seen[0])
        self.run_command("sweep", "models", "--hardware", "H100_SXM_80GB", "--out", "out8")
        self.assertFalse(os.path.exists(self.path("out8", "events.json")))

    def test_a_specification_names_plugins_beside_itself(self):
        harness.write(self.path("specs", "sort.mlir"), SORT)
        shutil.copy(self.library, self.path("specs", "friction.so"))
        spec = self.specification("specs/sweep.json", modules=["sort.mlir"], plugins=["friction.so"],
                                  estimators=[{"name": "friction", "grid": {"sort_factor": [1, 2]}}],
                                  hardware=["H100_SXM_80GB"])
        self.run_command("sweep", spec)
        self.assertEqual([row["bytes"] for row in harness.rows(self.path("specs", "out"))],
                         ["8000", "16000"])

    def test_another_build_of_a_plugin_misses_the_cache(self):
        harness.write(self.path("sort.mlir"), SORT)
        other = self.path("other.so")
        shutil.copy(self.library, other)
        with open(other, "ab") as file:
            file.write(b"another build")
        words = ("sweep", "sort.mlir", "--hardware", "H100_SXM_80GB", "--estimator", "friction",
                 "--cache-dir", "cache")
        hits = []
        for library, out in ((self.library, "a"), (self.library, "b"), (other, "c")):
            self.run_command(*words, "--plugin", library, "--out", out)
            hits.append(json.loads(harness.read(self.path(out, "timing.json")))["items_from_cache"])
        self.assertEqual(hits, [0, 1, 0])

    def test_what_is_no_plugin_says_why(self):
        cases = {
            "missing.so": "cannot be opened",
            harness.write(self.path("text.so"), "no library"): "text.so",
            self.compiled("empty", "int nothing;"): "no function nocturne_plugin",
            self.compiled("old", """
                #include "estimators/plugin.h"
                static void none(nocturne::EstimatorRegistry&) {}
                extern "C" const nocturne::PluginEntry* nocturne_plugin() {
                  static const nocturne::PluginEntry entry{"an older one", "1", none};
                  return &entry;
                }"""): "compiled against other headers (an older one",
            self.compiled("twice", """
                #include "estimators/plugin.h"
                #include "estimators/roofline_estimator.h"
                static void again(nocturne::EstimatorRegistry& r) { r.add<nocturne::RooflineEstimator>(); }
                NOCTURNE_PLUGIN("1", again)"""): "roofline",
        }
        for library, word in cases.items():
            with self.subTest(library=library):
                _, err = self.run_command("estimators", "--plugin", library, expect=1)
                self.assertIn(word, err)
                self.assertIn(os.path.basename(library), err)

    def test_an_estimator_that_throws_fails_its_item_alone(self):
        library = self.compiled("thrower", """
            #include "estimators/plugin.h"
            using namespace nocturne;
            class Thrower : public ComputeEstimator {
            public:
              static void describe(EstimatorClass<Thrower>& c) {
                c.name("thrower").extends<ComputeEstimator>();
                c.opHandler({"stablehlo.sort"}, &Thrower::fail);
              }
              OpResult fail(const OpInfo&) { throw 42; }
            };
            static void add(EstimatorRegistry& r) { r.add<Thrower>(); }
            NOCTURNE_PLUGIN("1", add)""")
        harness.write(self.path("sort.mlir"), SORT)
        self.run_command("sweep", "sort.mlir", "--hardware", "H100_SXM_80GB", "--estimator",
                         "roofline,thrower", "--plugin", library, expect=3)
        roofline, thrower = harness.rows(self.path("out"))
        self.assertEqual(roofline["status"], "ok")
        self.assertEqual((thrower["status"], thrower["failure"]), ("failed", "internal"))
        self.run_command("estimate", "sort.mlir", "--hardware", "H100_SXM_80GB", "--estimator",
                         "thrower", "--plugin", library, expect=3)


if __name__ == "__main__":
    harness.main()
