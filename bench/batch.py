"""A batch of small modules: `nocturne build` beside a shell pipeline of Debian's tools, on two cores.

The shell begins with what our lowering has made of each module (linalg on tensors), `nocturne build` with
StableHLO. Both optimise at level 3 for the same processor. The shell's passes are ours where mlir-opt-22 has
them; what only we have (blocked products, fused rows, arithmetic in place of libm) it goes without.
"""
import collections
import ctypes
import json
import math
import os
import random
import shutil
import subprocess
import time

TOOLS = ("mlir-opt-22", "mlir-translate-22", "opt-22", "llc-22", "ld.lld-22", "xargs", "taskset")
PROCESSOR = "x86-64-v3"  # of `nocturne build` when none is named
COMPARED = 14  # libraries whose results are compared: two of each family

PASSES = """builtin.module(
  inline,symbol-dce,canonicalize,cse,
  func.func(linalg-fuse-elementwise-ops),canonicalize,cse,
  eliminate-empty-tensors,
  one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map
    allow-return-allocs-from-loops=true},
  canonicalize,cse,
  buffer-results-to-out-params{hoist-static-allocs=true modify-public-functions=true},
  buffer-deallocation-pipeline,convert-bufferization-to-memref,
  func.func(convert-linalg-to-loops,canonicalize,cse,llvm-request-c-wrappers),
  convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-complex-to-standard,convert-complex-to-llvm,
  arith-expand,convert-math-to-llvm,convert-math-to-libm,convert-vector-to-llvm,convert-arith-to-llvm,
  convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,
  reconcile-unrealized-casts,canonicalize,cse)"""

# $1 is a folder with linalg.mlir; the library lands beside it.
SCRIPT = """cd "$1" &&
mlir-opt-22 linalg.mlir --pass-pipeline='{passes}' | mlir-translate-22 --mlir-to-llvmir |
  opt-22 -O3 -mtriple=x86_64-unknown-linux-gnu -mcpu={processor} |
  llc-22 -O3 -mcpu={processor} -relocation-model=pic -filetype=obj -o module.o &&
ld.lld-22 -shared --threads=1 -o lib.so -soname lib.so -z defs -z now --build-id=sha1 --eh-frame-hdr \\
  --hash-style=gnu --version-script=../exports module.o -L/lib/x86_64-linux-gnu -l:libc.so.6 -l:libm.so.6
"""


def function(arguments, result, body):
    takes = ", ".join(f"%{name}: {kind}" for name, kind in arguments)
    return f"func.func @main({takes}) -> {result} {{\n{body}  return %r : {result}\n}}\n"


def chain(rows, columns, draw):
    """Elementwise operations, a few or many."""
    kind = f"tensor<{rows}x{columns}x{draw.choice(('f32', 'f64'))}>"
    body, here = "", "a"
    count = draw.randint(3, 12)
    for i in range(count):
        to = "r" if i + 1 == count else f"v{i}"
        if draw.random() < 0.3:
            body += f"  %{to} = stablehlo.{draw.choice(('tanh', 'negate', 'abs', 'cosine'))} %{here} : {kind}\n"
        else:
            op = draw.choice(("add", "multiply", "subtract", "maximum"))
            body += f"  %{to} = stablehlo.{op} %{here}, %b : {kind}\n"
        here = to
    return function([("a", kind), ("b", kind)], kind, body)


def reduction(rows, columns, draw):
    dimension = draw.choice((0, 1))
    op, start = draw.choice((("add", "0.0"), ("maximum", "0xFF800000")))
    matrix = f"tensor<{rows}x{columns}xf32>"
    vector = f"tensor<{(columns, rows)[dimension]}xf32>"
    return function([("a", matrix)], vector,
                    f"  %0 = stablehlo.multiply %a, %a : {matrix}\n"
                    f"  %i = stablehlo.constant dense<{start}> : tensor<f32>\n"
                    f"  %r = stablehlo.reduce(%0 init: %i) applies stablehlo.{op} across dimensions = "
                    f"[{dimension}] : ({matrix}, tensor<f32>) -> {vector}\n")


def layer(rows, columns, draw):
    """A product, a bias and what makes it a layer."""
    inner = draw.choice((4, 8, 12, 16, 32))
    a, b, c = (f"tensor<{m}x{n}xf32>" for m, n in ((rows, inner), (inner, columns), (rows, columns)))
    bias = f"tensor<{columns}xf32>"
    return function([("a", a), ("b", b), ("c", bias)], c,
                    f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}\n"
                    f"  %1 = stablehlo.broadcast_in_dim %c, dims = [1] : ({bias}) -> {c}\n"
                    f"  %2 = stablehlo.add %0, %1 : {c}\n"
                    f"  %r = stablehlo.{draw.choice(('tanh', 'logistic'))} %2 : {c}\n")


def softmax(rows, columns, _):
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    reduces = f" across dimensions = [1] : ({matrix}, tensor<f32>) -> {vector}\n"
    spreads = f", dims = [0] : ({vector}) -> {matrix}\n"
    return function([("a", matrix)], matrix,
                    "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
                    "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                    f"  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum{reduces}"
                    f"  %1 = stablehlo.broadcast_in_dim %0{spreads}"
                    f"  %2 = stablehlo.subtract %a, %1 : {matrix}\n"
                    f"  %3 = stablehlo.exponential %2 : {matrix}\n"
                    f"  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add{reduces}"
                    f"  %5 = stablehlo.broadcast_in_dim %4{spreads}"
                    f"  %r = stablehlo.divide %3, %5 : {matrix}\n")


def normalisation(rows, columns, _):
    """The mean and the spread of each row out of it."""
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    reduces = f" applies stablehlo.add across dimensions = [1] : ({matrix}, tensor<f32>) -> {vector}\n"
    spreads = f", dims = [0] : ({vector}) -> {matrix}\n"
    return function([("a", matrix)], matrix,
                    "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                    f"  %n = stablehlo.constant dense<{columns}.0> : {vector}\n"
                    f"  %e = stablehlo.constant dense<1.0e-3> : {vector}\n"
                    f"  %0 = stablehlo.reduce(%a init: %zero){reduces}"
                    f"  %1 = stablehlo.divide %0, %n : {vector}\n"
                    f"  %2 = stablehlo.broadcast_in_dim %1{spreads}"
                    f"  %3 = stablehlo.subtract %a, %2 : {matrix}\n"
                    f"  %4 = stablehlo.multiply %3, %3 : {matrix}\n"
                    f"  %5 = stablehlo.reduce(%4 init: %zero){reduces}"
                    f"  %6 = stablehlo.divide %5, %n : {vector}\n"
                    f"  %7 = stablehlo.add %6, %e : {vector}\n"
                    f"  %8 = stablehlo.rsqrt %7 : {vector}\n"
                    f"  %9 = stablehlo.broadcast_in_dim %8{spreads}"
                    f"  %r = stablehlo.multiply %3, %9 : {matrix}\n")


def movement(rows, columns, draw):
    """A transpose, a slice and a concatenation."""
    matrix, turned = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}x{rows}xf32>"
    kept = draw.randint(1, columns)
    part, result = f"tensor<{kept}x{rows}xf32>", f"tensor<{kept + columns}x{rows}xf32>"
    return function([("a", matrix)], result,
                    f"  %0 = stablehlo.transpose %a, dims = [1, 0] : ({matrix}) -> {turned}\n"
                    f"  %1 = stablehlo.slice %0 [0:{kept}, 0:{rows}] : ({turned}) -> {part}\n"
                    f"  %2 = stablehlo.add %1, %1 : {part}\n"
                    f"  %r = stablehlo.concatenate %2, %0, dim = 0 : ({part}, {turned}) -> {result}\n")


def selection(rows, columns, draw):
    """Whole numbers: a comparison and what it chooses."""
    kind, mask = f"tensor<{rows}x{columns}xi32>", f"tensor<{rows}x{columns}xi1>"
    return function([("a", kind), ("b", kind)], kind,
                    f"  %0 = stablehlo.compare {draw.choice(('LT', 'GE'))}, %a, %b : ({kind}, {kind}) -> {mask}\n"
                    f"  %1 = stablehlo.multiply %a, %b : {kind}\n"
                    f"  %2 = stablehlo.subtract %1, %a : {kind}\n"
                    f"  %r = stablehlo.select %0, %1, %2 : {mask}, {kind}\n")


FAMILIES = (chain, reduction, layer, softmax, normalisation, movement, selection)


def write_modules(folder, count):
    """`count` modules, the families in turn; each has a number of rows that no other has."""
    draw = random.Random(1)
    paths = []
    for i in range(count):
        text = FAMILIES[i % len(FAMILIES)](4 + i, draw.choice((3, 8, 10, 16, 32, 48, 64)), draw)
        paths.append(folder / f"m{i:05}.mlir")
        paths[-1].write_text(text)
    return paths


def libraries(folder, paths):
    """The library of each module below a folder of `nocturne build`."""
    found = {path.parent.name: path for path in folder.rglob("lib.so") if ".nocturne" not in path.parts}
    missing = [path.stem for path in paths if path.stem not in found]
    if missing:
        raise SystemExit(f"batch: {len(missing)} modules have no library, the first is {missing[0]}")
    return [found[path.stem] for path in paths]


class Shell:
    """The pipeline of Debian's tools over the linalg that `nocturne build --keep-ir` keeps."""

    def __init__(self, folder, sources):
        self.folder = folder
        self.names = [source.parent.name for source in sources]
        for name, source in zip(self.names, sources):
            (folder / name).mkdir()
            shutil.copy(source.resolve().parent / "linalg.mlir", folder / name)
        (folder / "exports").write_text("{ global: _mlir_ciface_*; local: *; };\n")
        (folder / "compile.sh").write_text(SCRIPT.format(passes=PASSES, processor=PROCESSOR))

    def run(self, cpus):
        """Seconds for all of it, from nothing."""
        for name in self.names:
            for made in ("module.o", "lib.so"):
                (self.folder / name / made).unlink(missing_ok=True)
        start = time.perf_counter()
        ended = subprocess.run(["taskset", "-c", cpus, "xargs", "-P2", "-n1", "sh", "compile.sh"],
                               cwd=self.folder, input="\n".join(self.names), text=True, capture_output=True)
        seconds = time.perf_counter() - start
        made = sum((self.folder / name / "lib.so").exists() for name in self.names)
        if ended.returncode != 0 or made != len(self.names):
            raise SystemExit(f"batch: the shell made {made} of {len(self.names)} libraries\n{ended.stderr[-2000:]}")
        return seconds

    def library(self, name):
        return self.folder / name / "lib.so"


C_TYPES = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32}


def descriptor(data, dims):
    """A buffer as functions of MLIR take it: two addresses, an offset, sizes and strides."""
    strides = [math.prod(dims[i + 1:]) for i in range(len(dims))]
    address = ctypes.addressof(data)
    return (ctypes.c_int64 * (3 + 2 * len(dims)))(address, address, 0, *dims, *strides)


def compare(ours, theirs):
    """Calls both libraries of one module with the same numbers; the results may differ by rounding."""
    entry = json.loads((ours.resolve().parent / "manifest.json").read_text())["entries"][0]
    draw = random.Random(2)
    arrays = [(C_TYPES[a["dtype"]] * math.prod(a["dims"]))() for a in entry["arguments"]]
    for array, argument in zip(arrays, entry["arguments"]):
        if argument["direction"] == "in":
            whole = argument["dtype"] == "i32"
            array[:] = [draw.randint(-9, 9) if whole else draw.uniform(-1, 1) for _ in range(len(array))]
    addresses = (ctypes.c_void_p * len(arrays))(*(ctypes.addressof(array) for array in arrays))
    run = getattr(ctypes.CDLL(str(ours)), entry["symbol"])
    if run(addresses, ctypes.c_size_t(len(arrays))) != 0:
        raise SystemExit(f"batch: {ours} cannot be called")
    results = [i for i, argument in enumerate(entry["arguments"]) if argument["direction"] == "out"]
    wanted = {i: list(arrays[i]) for i in results}
    for i in results:
        ctypes.memset(arrays[i], 0xff, ctypes.sizeof(arrays[i]))
    buffers = [descriptor(array, argument["dims"]) for array, argument in zip(arrays, entry["arguments"])]
    getattr(ctypes.CDLL(str(theirs)), "_mlir_ciface_module." + entry["name"])(*buffers)
    for i in results:
        largest = max(abs(value) for value in wanted[i])
        if not all(abs(a - b) <= 1e-5 * max(1.0, largest) for a, b in zip(arrays[i], wanted[i])):
            raise SystemExit(f"batch: {ours} and {theirs} do not give the same numbers")


Rates = collections.namedtuple("Rates", "shell ours again ratios")  # in modules per second


def measure(bench, count, rounds):
    """Both in turn, so that a slower spell of the machine meets both."""
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    modules = bench.fresh("batch-modules")
    paths = write_modules(modules, count)
    kept = bench.fresh("batch-ir")
    bench.command(["build", modules, "--jobs", 2, "--keep-ir", "--out", kept])
    shell = Shell(bench.fresh("batch-shell"), libraries(kept, paths))
    rates = Rates([], [], [], [])
    for _ in range(rounds):
        rates.shell.append(count / shell.run(cpus))
        out = bench.fresh("batch-ours")
        build = ["build", modules, "--jobs", 2, "--out", out, "--quiet"]
        rates.ours.append(count / bench.command(build, cpus=cpus)[0])
        rates.again.append(count / bench.command(build, cpus=cpus)[0])
        rates.ratios.append(rates.ours[-1] / rates.shell[-1])
    made = libraries(out, paths)
    for path, library in list(zip(paths, made))[:COMPARED]:
        compare(library, shell.library(path.stem))
    return rates


def report(bench, line, count, rounds=3):
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"batch: skipped, there is no {' and no '.join(missing)}")
        return
    rates = measure(bench, count, rounds)
    line(f"{count} small modules to libraries, two cores",
         f"{max(rates.ours):.1f}/s, {max(rates.ours) / max(rates.shell):.2f}x",
         f"shell pipeline {max(rates.shell):.1f}/s (goal 3x)")
    line("the same in each round", ", ".join(f"{ratio:.2f}x" for ratio in rates.ratios))
    line("the same once more, all built before", f"{max(rates.again):,.0f}/s")
