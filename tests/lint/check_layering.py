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
    "lld/": {"compiler"},
    "sqlite3": {"storage"},
    "zlib.h": {"storage"},
    "tbb/": {"actors"},
    "oneapi/": {"actors"},
    "spdlog/": {"tools"},
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

# What begins a statement that declares no variable.
NO_VARIABLE = {
    "asm", "break", "case", "class", "concept", "continue", "default", "delete", "do", "else", "enum",
    "for", "friend", "goto", "if", "namespace", "public", "private", "protected", "requires", "return",
    "static_assert", "struct", "switch", "template", "throw", "try", "typedef", "union", "using", "while",
}  # fmt: skip
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b|extern$")
# With what no variable has in front of its value: parameters, names of operators.
DECLARATION = re.compile(r"(?!.*\boperator\b)[^()]*?\w[\s*&>]+[\w:]+(?:\s*\[[^\]]*\])*", re.DOTALL)


def statements(code):
    """(position, head, whether in a namespace rather than in a class or function) of each statement.

    The head ends where a value or a body begins: at the first "=", "{" or ";".
    """
    # Directives and attributes are none; what is in angle brackets says nothing here.
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank(m.group()), code, flags=re.MULTILINE)
    code = re.sub(r"\[\[.*?\]\]", lambda m: blank(m.group()), code, flags=re.DOTALL)
    scopes, start = [], 0
    for match in re.finditer(r"[;{}]", code):
        text = code[start : match.start()]
        if match.group() != "}":
            head = re.split(r"(?<![<>=!])=(?!=)", text, maxsplit=1)[0]
            yield start + len(head) - len(head.lstrip()), head.strip(), all(scopes)
        if match.group() == "{":
            scopes.append(NAMESPACE.match(text.strip()) is not None)
        elif match.group() == "}" and scopes:
            scopes.pop()
        start = match.end()


def is_mutable_global(head, in_namespace):
    head = re.sub(r"^(?:(?:public|private|protected)\s*:\s*|__extension__\s+)+", "", head)
    while re.search(r"<[^<>]*>", head):
        head = re.sub(r"<[^<>]*>", "", head)
    words = re.findall(r"\w+", head)
    if not words or words[0] in NO_VARIABLE or not DECLARATION.fullmatch(head):
        return False
    if not in_namespace and not {"static", "thread_local"} & set(words):
        return False
    # A const behind the last star is the variable's own.
    return not re.search(r"\bconst(?:expr)?\b", head.rpartition("*")[2]) and "constexpr" not in words


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def only_code(text):
    """The text with everything but code blanked, lines kept."""
    return NOT_CODE.sub(lambda match: blank(match.group()), text)


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
        if name.split("/")[0] in FREE:
            return
        for position, head, in_namespace in statements(code):
            if is_mutable_global(head, in_namespace):
                variable = " ".join(head.split())
                self.report(name, line_of(code, position), f"no global mutable state: {variable}")
        if name.startswith("tools/"):
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
