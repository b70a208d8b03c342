#!/usr/bin/env python3
"""Checks what a formatter cannot: who includes whom, and a few habits.

usage: check_layering.py [ROOT]

Prints file:line of every finding and exits with 1 when there is one.
"""

import pathlib
import re
import sys

# Folder -> the folders of ours that it may include. docs/architecture.md explains the table.
LAYERS = {
    "engine": {"engine"},
    "storage": {"storage", "engine"},
    "estimators": {"estimators", "engine"},
    "compiler": {"compiler", "engine", "storage"},
    "actors": {"actors", "engine", "storage", "estimators", "compiler"},
    "tools": {"tools", "actors", "engine", "storage", "estimators", "compiler"},
}
# These may include anything of ours and of others, and may print.
FREE = ("tests", "bench", "examples")

# Part of a folder with a stricter rule than its folder.
STRICTER = {"compiler/dialect": ("compiler/dialect",)}

# Start of an external include -> the folders where it is at home.
EXTERNAL = {
    "caf/": {"actors"},
    "mlir/": {"compiler"},
    "mlir-c/": {"compiler"},
    "llvm/": {"compiler"},
    "llvm-c/": {"compiler"},
    "sqlite3": {"storage"},
    "CLI/": {"tools"},
    "doctest/": set(),
    "benchmark/": set(),
}
# File -> starts of the includes that it alone may have.
EXCEPTIONS = {
    "engine/digest.cpp": ("llvm/Support/BLAKE3.h",),
    # The dialect's own test driver, which reads and prints IR.
    "tools/nocturne_opt.cpp": ("mlir/", "llvm/"),
}

SOURCES = {".h", ".cpp", ".inc", ".def"}
TEXTS = SOURCES | {".td", ".py", ".sh", ".cmake", ".txt"}

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
GUARD = re.compile(r"^[ \t]*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\b", re.MULTILINE)
USING_STD = re.compile(r"\busing\s+namespace\s+(::)?std\s*;")
# A call of printf or exit, but not of a member or of a longer name such as snprintf or _exit.
PRINTS_OR_EXITS = re.compile(
    r"\bstd::(?:cout|cerr|clog)\b|(?<![\w.>])(?:std::)?(?:v?f?printf|puts|exit)\s*\("
)
UNFINISHED = re.compile(r"\b(" + "TO" + "DO|FIX" + r"ME)\b")
# Comments, strings and characters, which the checks of code must not see. A quote between digits
# separates them.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)


def only_code(text):
    """The text with everything but code blanked, lines kept."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Checker:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.guards = {}

    def report(self, name, line, message):
        self.findings.append(f"{name}:{line}: {message}")

    def check_own_include(self, name, line, target):
        folder, other = name.split("/")[0], target.split("/")[0]
        for part, allowed in STRICTER.items():
            if name.startswith(part + "/") and not target.startswith(allowed):
                self.report(name, line, f"{part} may not include {target}")
                return
        if other not in LAYERS[folder]:
            self.report(name, line, f"{folder} may not include {target}")

    def check_include(self, name, line, quote, target):
        folder, first = name.split("/")[0], target.split("/")[0]
        if folder in FREE:
            return
        if first in LAYERS or first in FREE:
            self.check_own_include(name, line, target)
            return
        for start, homes in EXTERNAL.items():
            if target.startswith(start):
                if folder not in homes and not target.startswith(EXCEPTIONS.get(name, ())):
                    self.report(name, line, f"{folder} may not include {target}")
                return
        if quote == '"':
            self.report(name, line, f"include {target} by its path from the root of the project")

    def check_includes(self, name, text):
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                self.check_include(name, number, match.group(1), match.group(2))

    def check_header(self, name, text):
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            self.report(name, 1, "a header needs #pragma once")
        match = GUARD.search(text)
        if match is None:
            return
        guard = match.group(1)
        if guard in self.guards:
            self.report(
                name, line_of(text, match.start()), f"{guard} already guards {self.guards[guard]}"
            )
        self.guards.setdefault(guard, name)

    def check_code(self, name, text):
        code = only_code(text)
        for match in USING_STD.finditer(code):
            self.report(name, line_of(code, match.start()), "no 'using namespace std'")
        if name.split("/")[0] in FREE + ("tools",):
            return
        for match in PRINTS_OR_EXITS.finditer(code):
            what = match.group().rstrip("( ")
            self.report(name, line_of(code, match.start()), f"only tools/ prints or exits: {what}")

    def check_file(self, path):
        name = path.relative_to(self.root).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in UNFINISHED.finditer(text):
            self.report(name, line_of(text, match.start()), f"unfinished: {match.group()}")
        if path.suffix not in SOURCES:
            return
        self.check_includes(name, text)
        self.check_code(name, text)
        if path.suffix == ".h":
            self.check_header(name, text)

    def run(self):
        for folder in (*LAYERS, *FREE, "cmake"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and path.suffix in TEXTS:
                    self.check_file(path)
        return self.findings


def main(arguments):
    default = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(arguments[0]).resolve() if arguments else default
    if not (root / "engine").is_dir():
        print(f"{root} has no folder engine", file=sys.stderr)
        return 2
    findings = Checker(root).run()
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
