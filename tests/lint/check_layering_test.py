#!/usr/bin/env python3
"""check_layering.py finds each fault of a small bad tree, and nothing in a good one."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().with_name("check_layering.py")


class LayeringTest(unittest.TestCase):
    def check(self, files):
        """The findings for a tree of these files: (exit code, list of lines)."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "engine").mkdir()
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, str(SCRIPT), folder], capture_output=True, text=True, check=False
            )
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def assert_finding(self, name, text, finding):
        self.assertEqual(self.check({name: text}), (1, [finding]))

    def assert_clean(self, files):
        self.assertEqual(self.check(files), (0, []))

    def test_the_engine_includes_nothing_of_ours(self):
        self.assert_finding(
            "engine/a.cpp",
            '\n#include "storage/b.h"\n',
            "engine/a.cpp:2: engine may not include storage/b.h",
        )

    def test_estimators_do_not_know_the_compiler(self):
        self.assert_finding(
            "estimators/a.cpp",
            '#include "compiler/reader/b.h"\n',
            "estimators/a.cpp:1: estimators may not include compiler/reader/b.h",
        )

    def test_nothing_of_the_product_includes_tests(self):
        self.assert_finding(
            "tools/a.cpp",
            '#include "tests/support/b.h"\n',
            "tools/a.cpp:1: tools may not include tests/support/b.h",
        )

    def test_the_dialect_includes_nothing_but_itself(self):
        self.assert_finding(
            "compiler/dialect/A.cpp",
            '#include "compiler/dialect/A.h"\n#include "engine/error.h"\n',
            "compiler/dialect/A.cpp:2: compiler/dialect may not include engine/error.h",
        )

    def test_external_libraries_stay_at_home(self):
        for name, header in {
            "storage/a.cpp": "caf/all.hpp",
            "estimators/a.cpp": "mlir/IR/MLIRContext.h",
            "engine/a.cpp": "llvm/Support/BLAKE3.h",
            "engine/digest.cpp": "llvm/ADT/StringRef.h",
            "actors/a.cpp": "sqlite3.h",
            "storage/b.cpp": "CLI/CLI.hpp",
            "engine/c.cpp": "tbb/parallel_for.h",
            "actors/b.cpp": "spdlog/spdlog.h",
            "tools/a.cpp": "zlib.h",
            "engine/b.cpp": "doctest/doctest.h",
        }.items():
            folder = name.split("/", maxsplit=1)[0]
            self.assert_finding(
                name, f"#include <{header}>\n", f"{name}:1: {folder} may not include {header}"
            )

    def test_includes_are_written_from_the_root(self):
        self.assert_finding(
            "engine/a.cpp",
            '#include "b.h"\n',
            "engine/a.cpp:1: include b.h by its path from the root of the project",
        )

    def test_headers_are_guarded_once(self):
        self.assert_finding("engine/a.h", "int a();\n", "engine/a.h:1: a header needs #pragma once")
        guarded = "#pragma once\n#ifndef A_H\n#define A_H\n#endif\n"
        self.assertEqual(
            self.check({"engine/a.h": guarded, "engine/b.h": guarded}),
            (1, ["engine/b.h:2: A_H already guards engine/a.h"]),
        )

    def test_habits(self):
        for text, message in {
            "using namespace std;": "no 'using namespace std'",
            "void f() { std::cout << 1; }": "only tools/ prints or exits: std::cout",
            "void f() { std::cerr << 1; }": "only tools/ prints or exits: std::cerr",
            'void f() { printf("x"); }': "only tools/ prints or exits: printf",
            'void f() { std::fprintf(stderr, "x"); }': "only tools/ prints or exits: std::fprintf",
            "void f() { exit(1); }": "only tools/ prints or exits: exit",
            "// TO" + "DO: more": "unfinished: TO" + "DO",
            "// FIX" + "ME": "unfinished: FIX" + "ME",
        }.items():
            self.assert_finding("engine/a.cpp", "\n" + text + "\n", "engine/a.cpp:2: " + message)

    def test_state_that_is_global_and_mutable(self):
        for text, variable in {
            "int counter = 0;": "int counter",
            "namespace a {\nint counter;\n}": "int counter",
            "namespace {\nstd::map<int, std::string> names{{1, {}}};\n}": "std::map<int, std::string> names",
            "const char* name = nullptr;": "const char* name",
            "extern int counter;": "extern int counter",
            "int f() {\n  static int calls = 0;\n  return ++calls;\n}": "static int calls",
            "void f() {\n  thread_local std::string buffer;\n}": "thread_local std::string buffer",
            "struct A {\npublic:\n  static int count_;\n};": "static int count_",
        }.items():
            code, findings = self.check({"engine/a.cpp": text + "\n"})
            self.assertEqual(code, 1, text)
            self.assertEqual(len(findings), 1, findings)
            self.assertIn("no global mutable state: ", findings[0])
            self.assertTrue(findings[0].endswith(variable), findings)

    def test_constants_functions_and_members_are_no_global_state(self):
        self.assert_clean(
            {
                "engine/a.cpp": (
                    "constexpr int kOne = 1;\n"
                    "static const std::map<int, int> kNames = {{1, 2}};\n"
                    'const char* const kName = "a";\n'
                    "static int f(int a = 1);\n"
                    "bool operator==(const A& a, const B& b) = default;\n"
                    "struct A {\n"
                    "  int count = 0, more{};\n"
                    "  static A make();\n"
                    "  static constexpr const char* name = nullptr;\n"
                    "};\n"
                    "enum class E { One, Two = 2 };\n"
                    "A::A() : one_{1}, two_(2) { int local = 3; }\n"
                    "template <typename T> concept Big = sizeof(T) > 8;\n"
                    "const std::string& g() {\n  static const std::string text = f(1);\n  return text;\n}\n"
                ),
                "tests/a.cpp": "int counter = 0;\n",
            }
        )

    def test_comments_strings_and_longer_names_are_no_calls(self):
        self.assert_clean(
            {
                "engine/a.cpp": (
                    "// exit(1) and printf(2)\n"
                    "/* std::cout\n exit(2) */\n"
                    'const char a[] = "exit(1)", b[] = R"(std::cerr)";\n'
                    "constexpr int million = 1'000'000;\n"
                    "using namespace std::chrono_literals;\n"
                    "void f() { snprintf(c, 1, d); _exit(1); self->exit(2); g.exit(3); }\n"
                )
            }
        )

    def test_tools_tests_bench_and_examples_may_print(self):
        text = "#include <iostream>\nint main() { std::cout << 1; exit(1); }\n"
        self.assert_clean({f"{f}/a.cpp": text for f in ("tools", "tests", "bench", "examples")})

    def test_a_good_tree_is_clean(self):
        self.assert_clean(
            {
                "engine/a.h": "#pragma once\n#include <nlohmann/json.hpp>\n",
                "engine/digest.cpp": "#include <llvm/Support/BLAKE3.h>\n",
                "storage/a.cpp": '#include <sqlite3.h>\n#include "engine/a.h"\n',
                "compiler/reader/a.cpp": '#include "mlir/IR/Builders.h"\n#include "engine/a.h"\n',
                "actors/a.cpp": '#include <caf/all.hpp>\n#include "compiler/reader/a.h"\n',
                "tools/a.cpp": '#include <CLI/CLI.hpp>\n#include "actors/a.h"\n',
                "tests/a.cpp": '#include <caf/all.hpp>\n#include "tests/fixture.h"\n',
            }
        )


if __name__ == "__main__":
    unittest.main()
