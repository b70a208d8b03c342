"""A folder full of traps: each is one failed item with a message and a place, all else is done."""

import os
import unittest

import harness


def call_tree(depth):
    """f0 calls f1 twice, f1 calls f2 twice, ...: 2^depth rows when expanded."""
    functions = ["  func.func @main(%x: tensor<f32>) -> tensor<f32> {",
                 "    %0 = call @f0(%x) : (tensor<f32>) -> tensor<f32>",
                 "    return %0 : tensor<f32>", "  }"]
    for level in range(depth):
        callee = f"@f{level + 1}"
        functions += [f"  func.func private @f{level}(%x: tensor<f32>) -> tensor<f32> {{",
                      f"    %0 = call {callee}(%x) : (tensor<f32>) -> tensor<f32>",
                      f"    %1 = call {callee}(%0) : (tensor<f32>) -> tensor<f32>",
                      "    return %1 : tensor<f32>", "  }"]
    functions += [f"  func.func private @f{depth}(%x: tensor<f32>) -> tensor<f32> {{",
                  "    %0 = stablehlo.tanh %x : tensor<f32>", "    return %0 : tensor<f32>", "  }"]
    return "module {\n" + "\n".join(functions) + "\n}\n"


RECURSIVE = """module {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @again(%x) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @again(%x: tensor<f32>) -> tensor<f32> {
    %0 = call @again(%x) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
"""

# File name -> content; what a message must say.
TRAPS = {
    "binary.mlir": (bytes(range(256)) * 40, ""),
    "bodies.mlir": ("module {\n  func.func private @main(tensor<f32>) -> tensor<f32>\n}\n", ""),
    "deep.mlir": ("module {\n" + "(" * 100_000 + ")" * 100_000 + "\n}\n", "nest"),
    "empty.mlir": ("", ""),
    "recursive.mlir": (RECURSIVE, "again"),
    "tree.mlir": (call_tree(40), "operations"),
    "truncated.mlir": (harness.layer_module(1)[:200], ""),
}


class Hostile(harness.SystemTest):
    def trap_folder(self):
        folder = self.modules(3)
        for name, (content, _) in TRAPS.items():
            harness.write(os.path.join(folder, name), content)
        return folder

    def check(self, bad):
        """Every name of `bad` failed on both machines with a place, everything else is ok."""
        by_module = {}
        for row in harness.rows(self.path("out")):
            by_module.setdefault(os.path.basename(row["module"]), []).append(row)
        for name, items in by_module.items():
            self.assertEqual(len(items), 2, name)
            for row in items:
                if name not in bad:
                    self.assertEqual(row["status"], "ok", row)
                    continue
                self.assertEqual((row["status"], row["failure"]), ("failed", "unreadable"), row)
                self.assertIn(name, row["message"])
                self.assertGreater(len(row["message"].split(": ", 1)[-1]), 10, row)
                self.assertLess(len(row["message"]), 2000, name)
        for name in bad:
            self.assertIn(name, by_module)
        return by_module

    def test_each_trap_is_one_failed_item(self):
        folder = self.trap_folder()
        self.run_command("sweep", folder, "--hardware", harness.MACHINES, "--jobs", "2", expect=3)
        by_module = self.check(set(TRAPS))
        for name, (_, word) in TRAPS.items():
            self.assertIn(word, by_module[name][0]["message"].lower())
        self.assertEqual(len(by_module), 3 + len(TRAPS))

    def test_folder_named_like_a_module_is_one_failed_item(self):
        folder = self.modules(2)
        os.mkdir(os.path.join(folder, "folder.mlir"))
        spec = self.specification("sweep.json", modules=["models/*.mlir"],
                                  hardware=harness.MACHINES.split(","))
        self.run_command("sweep", spec, "--out", "out", expect=3)
        self.check({"folder.mlir"})

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_unreadable_file_is_one_failed_item(self):
        folder = self.modules(2)
        locked = harness.write(os.path.join(folder, "locked.mlir"), harness.layer_module(9))
        os.chmod(locked, 0)
        self.run_command("sweep", folder, "--hardware", harness.MACHINES, expect=3,
                         preexec_fn=harness.as_nobody)
        self.check({"locked.mlir"})

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_unreadable_folder_below_is_one_failed_item(self):
        folder = self.modules(2)
        os.mkdir(os.path.join(folder, "locked"))
        os.chmod(os.path.join(folder, "locked"), 0)
        self.run_command("sweep", folder, "--hardware", harness.MACHINES, expect=3,
                         preexec_fn=harness.as_nobody)
        self.check({"locked"})

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_unreadable_folder_itself_is_refused(self):
        folder = self.modules(2)
        os.chmod(folder, 0)
        _, err = self.run_command("sweep", folder, "--hardware", harness.MACHINES, expect=1,
                                  preexec_fn=harness.as_nobody)
        self.assertIn("cannot list the folder", err)

    def test_dangling_link_and_fifo_are_failed_items(self):
        folder = self.modules(2)
        os.symlink("nowhere", os.path.join(folder, "link.mlir"))
        os.mkfifo(os.path.join(folder, "pipe.mlir"))
        spec = self.specification("sweep.json", modules=["models/*.mlir"],
                                  hardware=harness.MACHINES.split(","))
        self.run_command("sweep", spec, "--out", "out", expect=3)
        self.check({"link.mlir", "pipe.mlir"})

    def test_estimate_of_a_trap_fails_with_its_place(self):
        harness.write(self.path("recursive.mlir"), RECURSIVE)
        out, err = self.run_command("estimate", "recursive.mlir", "--hardware", "H100_SXM_80GB",
                                    expect=3)
        self.assertEqual(out, "")
        self.assertIn("recursive.mlir:", err)

    def test_what_crashes_or_fills_the_parser_is_one_failed_item(self):
        folder = self.modules(2)
        aliases = [f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>" for i in range(1, 41)]
        head = "func.func @main(%a: tensor<f32>) -> tensor<f32> {"
        bad = {
            "array.mlir": [head, '  %0 = "stablehlo.negate"(%a) {foo = array<index: 2>}'
                                 " : (tensor<f32>) -> tensor<f32>",
                           "  return %0 : tensor<f32>", "}"],
            "number.mlir": [head, "  return %a#2147483647 : tensor<f32>", "}"],
            "aliases.mlir": ["!t0 = f32", *aliases,
                             'func.func @main(%a: !t40) { "foo.b"(%a) : (!t40) -> !t39 return }'],
        }
        for name, lines in bad.items():
            harness.write(os.path.join(folder, name), "\n".join(lines) + "\n")
        self.run_command("sweep", folder, "--hardware", harness.MACHINES, expect=3)
        self.check(set(bad))


if __name__ == "__main__":
    harness.main()
