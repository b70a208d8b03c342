"""nocturne build: many modules in worker processes that may be killed at any moment."""

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import time

import harness

# Layers of a module that takes long enough to be interrupted.
LONG = 10


def small_module(index):
    """Built within milliseconds; no two indices are the same."""
    tensor = f"tensor<{4 + index}xf32>"
    return (f"func.func @main(%x: {tensor}) -> {tensor} {{\n"
            f"  %y = stablehlo.add %x, %x : {tensor}\n  return %y : {tensor}\n}}\n")


class Build(harness.SystemTest):
    def modules(self, count, folder="models"):
        for index in range(count):
            harness.write(self.path(folder, f"m{index:03}.mlir"), small_module(index))

    def build(self, *words, expect=0):
        out, err = self.run_command("build", *words, "--out", "out", "--json", expect=expect)
        return json.loads(out), err

    def counts(self, result):
        return {name: result[name] for name in ("built", "reused", "failed", "cancelled")}

    def assert_counts(self, result, **expected):
        wanted = {"built": 0, "reused": 0, "failed": 0, "cancelled": 0, **expected}
        self.assertEqual(self.counts(result), wanted, json.dumps(result, indent=1))

    def state_of(self, result, name):
        return next(module for module in result["modules"] if module["module"] == name)

    def drafts(self, module):
        """(key, process) of each build of a module that is being made."""
        folder = self.path("out", module, ".nocturne", "tmp")
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return []
        return [(name.split(".")[0], int(name.split(".")[1])) for name in names]

    def wait_for(self, what, condition, process):
        for _ in range(6000):
            found = condition()
            if found:
                return found
            if process.poll() is not None:
                out, err = process.communicate()
                self.fail(f"ended before {what}: {out} {err}")
            time.sleep(0.01)
        self.fail(f"never: {what}")

    def wait_for_builder(self, process, module, other_than=()):
        """The process that builds a module."""
        return self.wait_for(
            f"{module} is built",
            lambda: next((pid for _, pid in self.drafts(module) if pid not in other_than), None),
            process)

    def long_module(self, name="models/long.mlir", index=90):
        return harness.write(self.path(name), harness.layer_module(index, LONG))

    def finish(self, process, expect):
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, expect, (out, err))
        return json.loads(out), err.decode()

    def assert_nothing_half_built(self):
        for folder, _, files in os.walk(self.path("out")):
            if re.fullmatch("[0-9a-f]{64}", os.path.basename(folder)):
                self.assertIn("manifest.json", files)
                self.assertIn("lib.so", files)

    def test_modules_are_built_once(self):
        self.modules(12)
        first, _ = self.build("models")
        self.assert_counts(first, built=12)
        self.assertEqual([module["module"] for module in first["modules"]],
                         [f"models/m{index:03}.mlir" for index in range(12)])
        for module in first["modules"]:
            stem = module["module"][:-len(".mlir")]
            self.assertEqual(module["library"], self.path("out", stem, "lib.so"))
            self.assertTrue(harness.read(module["library"]).startswith(b"\x7fELF"))
            manifest = json.loads(harness.read(self.path("out", stem, "manifest.json")))
            self.assertEqual(manifest["key"], module["key"])
            self.assertEqual(manifest["entries"][0]["symbol"], "nocturne_main")
        second, _ = self.build("models")
        self.assert_counts(second, reused=12)
        self.assertEqual([module["key"] for module in second["modules"]],
                         [module["key"] for module in first["modules"]])
        forced, _ = self.build("models/m00[0-2].mlir", "--force")
        self.assert_counts(forced, built=3)

    def test_text_for_people(self):
        self.modules(2)
        harness.write(self.path("models/bad.mlir"), "module {\n  nonsense\n}\n")
        out, _ = self.run_command("build", "models", "--out", "out", expect=3)
        self.assertRegex(out, r"models/bad\.mlir +unreadable +models/bad\.mlir:2:3")
        self.assertRegex(out, r"(?m)^3 modules: 2 built, 0 reused, 1 failed, in ")

    def test_bad_modules_fail_alone(self):
        self.modules(3)
        harness.write(self.path("models/bad.mlir"), "module {\n  nonsense\n}\n")
        os.mkdir(self.path("models/folder.mlir"))
        for mode in ((), ("--in-process",)):
            result, _ = self.build("models/*.mlir", "--force", *mode, expect=3)
            self.assert_counts(result, built=3, failed=2)
            bad = self.state_of(result, "models/bad.mlir")
            self.assertEqual(bad["failure"]["kind"], "unreadable")
            self.assertEqual((bad["failure"]["file"], bad["failure"]["line"]), ("models/bad.mlir", 2))
            self.assertIsNone(bad["library"])
            self.assertEqual(self.state_of(result, "models/folder.mlir")["failure"]["kind"],
                             "unreadable")

    def test_equal_modules_are_built_once_and_copied(self):
        for name in ("a", "b", "c"):
            harness.write(self.path(f"models/{name}.mlir"), small_module(0))
        result, _ = self.build("models")
        self.assert_counts(result, built=1, reused=2)
        for name in ("a", "b", "c"):
            self.assertTrue(os.path.exists(self.path("out/models", name, "lib.so")))

    def test_names_that_differ_in_the_extension_keep_it(self):
        harness.write(self.path("m/a.mlir"), small_module(0))
        harness.write(self.path("m/a.mlirbc"), small_module(1))
        result, _ = self.build("m")
        self.assert_counts(result, built=2)
        self.assertTrue(os.path.exists(self.path("out/m/a.mlir/lib.so")))
        self.assertTrue(os.path.exists(self.path("out/m/a.mlirbc/lib.so")))

    def test_objects_kept_forms_and_targets(self):
        self.modules(1)
        plain, _ = self.build("models", "--kind", "o", "--keep-ir")
        module = plain["modules"][0]
        self.assertTrue(module["library"].endswith("/lib.o"))
        self.assertIn("linalg.mlir", os.listdir(module["folder"]))
        self.assertIn("module.ll", os.listdir(module["folder"]))
        native, _ = self.build("models", "--target", "cpu --arch=native")
        self.assert_counts(native, built=1)
        manifest = json.loads(harness.read(self.path("out/models/m000/manifest.json")))
        self.assertIn("--features=", manifest["target"])
        self.assertNotIn("native", manifest["target"])
        slow, _ = self.build("models", "--target", "cpu --arch=native", "--opt-level", "0")
        self.assert_counts(slow, built=1)

    def test_functions_may_have_names_that_libraries_have(self):
        names = ["identity", "release", "malloc", "memcpy", "expf", "_init", "_start", "a b", "\u00e9"]
        tensor = "tensor<2xf32>"
        harness.write(self.path("models", "names.mlir"), "".join(
            f'func.func @"{name}"(%x: {tensor}) -> {tensor} {{\n'
            f"  %0 = stablehlo.exponential %x : {tensor}\n"
            f"  %1 = stablehlo.add %0, %x : {tensor}\n  return %1 : {tensor}\n}}\n"
            for name in names))
        result, _ = self.build("models", "--target", "cpu --arch=native")
        self.assert_counts(result, built=1)
        module = result["modules"][0]
        with open(os.path.join(module["folder"], "manifest.json"), encoding="utf-8") as file:
            entries = json.load(file)["entries"]
        self.assertEqual([entry["name"] for entry in entries], names)
        library = ctypes.CDLL(module["library"])
        for entry in entries:
            given, made = (ctypes.c_float * 2)(0, 1), (ctypes.c_float * 2)()
            arguments = (ctypes.c_void_p * 2)(ctypes.addressof(given), ctypes.addressof(made))
            self.assertEqual(getattr(library, entry["symbol"])(arguments, ctypes.c_size_t(2)), 0)
            self.assertAlmostEqual(made[0], 1, places=5)
            self.assertAlmostEqual(made[1], 3.7182818, places=5)

    def test_mistakes_exit_with_1_and_build_nothing(self):
        self.modules(1)
        for words in (("models", "--target", "gpu"), ("models", "--target", "cpu --arch=8086x"),
                      ("models", "--kind", "a"),
                      ("models", "--target", "cpu --features=+nonsense"),
                      ("nothing.mlir",), ("models", "--jobs", "0")):
            self.run_command("build", *words, "--out", "out", expect=1)
            self.assertFalse(os.path.exists(self.path("out")), words)

    def test_worker_that_is_killed_is_replaced(self):
        self.modules(4)
        self.long_module()
        process = self.start("build", "models", "--out", "out", "--jobs", "2", "--json")
        killed = self.wait_for_builder(process, "models/long")
        os.kill(killed, signal.SIGKILL)
        result, _ = self.finish(process, 0)
        self.assert_counts(result, built=5)
        self.assert_nothing_half_built()
        self.assertEqual(self.drafts("models/long"), [])

    def test_module_that_loses_two_workers_fails_alone(self):
        self.modules(3)
        self.long_module()
        process = self.start("build", "models", "--out", "out", "--jobs", "2", "--json")
        first = self.wait_for_builder(process, "models/long")
        os.kill(first, signal.SIGSEGV)
        second = self.wait_for_builder(process, "models/long", {first})
        # Alone: all others are done.
        for index in range(3):
            self.assertTrue(os.path.exists(self.path(f"out/models/m{index:03}/lib.so")))
        os.kill(second, signal.SIGSEGV)
        result, _ = self.finish(process, 3)
        self.assert_counts(result, built=3, failed=1)
        failure = self.state_of(result, "models/long.mlir")["failure"]
        self.assertEqual(failure["kind"], "crashed")
        self.assertIn("SIGSEGV", failure["message"])
        self.assert_nothing_half_built()

    def test_module_past_its_deadline_fails_alone(self):
        self.long_module()
        result, _ = self.build("models", "--deadline", "0.02", expect=3)
        failure = result["modules"][0]["failure"]
        self.assertEqual(failure["kind"], "timed_out")
        self.assertEqual(failure["message"], "not built within 0.02 s")

    def test_two_commands_build_each_module_once(self):
        self.modules(12)
        processes = [self.start("build", "models", "--out", "out", "--jobs", "2", "--json")
                     for _ in range(2)]
        results = [self.finish(process, 0)[0] for process in processes]
        self.assertEqual(sum(result["built"] for result in results), 12)
        self.assertEqual(sum(result["reused"] for result in results), 12)
        for one, other in zip(results[0]["modules"], results[1]["modules"]):
            self.assertEqual(one["key"], other["key"])

    def test_interrupted_build_leaves_nothing_half_built_and_goes_on(self):
        for index in range(6):
            self.long_module(f"models/l{index}.mlir", 90 + index)
        builders = set()
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start("build", "models", "--out", "out", "--jobs", "1", "--force",
                                 "--json")
            builder = self.wait_for_builder(process, "models/l0", builders)
            builders.add(builder)
            process.send_signal(number)
            result, err = self.finish(process, code)
            self.assertIn("stopping: builds in work have 5 s to end", err)
            self.assertGreaterEqual(result["cancelled"], 5)
            self.assert_nothing_half_built()
            self.assertFalse(os.path.exists(f"/proc/{builder}"))
        result, _ = self.build("models")
        self.assertEqual(result["built"] + result["reused"], 6)

    def test_workers_die_with_a_killed_command(self):
        self.long_module()
        process = self.start("build", "models", "--out", "out")
        builder = self.wait_for_builder(process, "models/long")
        watch = os.pidfd_open(builder)
        process.kill()
        process.communicate()
        self.assertTrue(wait_for_end(watch))
        self.assert_nothing_half_built()
        result, _ = self.build("models")
        self.assert_counts(result, built=1)
        self.assertEqual(self.drafts("models/long"), [])

    def test_damaged_library_is_built_again(self):
        self.modules(3)
        first, _ = self.build("models")
        library = os.path.realpath(self.state_of(first, "models/m001.mlir")["library"])
        content = bytearray(harness.read(library))
        content[len(content) // 2] ^= 1
        harness.write(library, bytes(content))
        second, _ = self.build("models")
        self.assert_counts(second, built=1, reused=2)
        self.assertEqual(self.state_of(second, "models/m001.mlir")["state"], "built")

    def test_stranger_without_the_token_gets_no_work(self):
        self.long_module()
        process = self.start("build", "models", "--out", "out", "--jobs", "1", "--json")
        builder = self.wait_for_builder(process, "models/long")
        words = harness.read(f"/proc/{builder}/cmdline").decode().split("\0")
        address = words[words.index("--connect") + 1]
        self.assertTrue(address.startswith("127.0.0.1:"))
        stranger = self.start("worker", "--connect", address, stdin=subprocess.PIPE)
        stranger.stdin.write(b"1 " + b"0" * 64 + b"\n")
        stranger.stdin.close()
        stranger.stdin = None
        result, _ = self.finish(process, 0)
        self.assert_counts(result, built=1)
        stranger.communicate(timeout=60)

    def test_workers_refuse_other_machines(self):
        for address in ("10.0.0.1:80", "localhost:80", "127.0.0.1"):
            _, err = self.run_command("worker", "--connect", address, expect=1,
                                      stdin=subprocess.DEVNULL)
            self.assertIn("127.0.0.1:PORT", err)


def wait_for_end(watch):
    """Until the process of a pidfd ends; False when it does not."""
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    ended = bool(poll.poll(60_000))
    os.close(watch)
    return ended


if __name__ == "__main__":
    harness.main()
