#!/usr/bin/env python3
"""Measures Nocturne's speed and memory, each figure beside its baseline of the same run.

Whole commands are timed here; parts are measured by the benchmark programs of the build.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import batch


class Bench:
    def __init__(self, build, corpus):
        self.build = pathlib.Path(build).resolve()
        self.corpus = pathlib.Path(corpus).resolve()
        self.nocturne = self.build / "tools" / "nocturne"
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="nocturne-bench-"))

    def program(self, name):
        return self.build / "bench" / name

    def command(self, arguments, cpus=None):
        """Runs `nocturne ARGUMENTS`; returns (seconds, peak bytes). Fails loudly on exit 1 and 2."""
        command = [str(self.nocturne)] + [str(a) for a in arguments]
        if cpus:
            command = ["taskset", "-c", cpus] + command
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, 3):
            raise SystemExit(f"{' '.join(command)}: exit {code}\n{errors.decode()}")
        return seconds, usage.ru_maxrss * 1024

    def fresh(self, name):
        path = self.scratch / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path


def line(title, figure, baseline=""):
    print(f"{title:<58} {figure:<30} {baseline}", flush=True)


def small_modules(folder, count):
    """`count` small modules that differ in a shape, so that none shares its result with another."""
    for i in range(count):
        n = 8 + i
        (folder / f"m{i:05}.mlir").write_text(
            f"func.func @main(%a: tensor<{n}x16xf32>, %b: tensor<16x8xf32>) -> tensor<{n}x8xf32> {{\n"
            f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
            f"(tensor<{n}x16xf32>, tensor<16x8xf32>) -> tensor<{n}x8xf32>\n"
            f"  %1 = stablehlo.tanh %0 : tensor<{n}x8xf32>\n"
            f"  return %1 : tensor<{n}x8xf32>\n}}\n")


def grid(points, module, out):
    """A specification of `points` grid points on one module, as a square of two axes."""
    side = max(1, round(points ** 0.5))
    return {
        "modules": [str(module)],
        "estimators": ["roofline"],
        "hardware": [{"base": "H100_SXM_80GB", "grid": {
            "memory_bandwidth": {"from": 1e12, "to": 8e12, "steps": side},
            "compute_scale": {"from": 1, "to": 8, "steps": points // side}}}],
        "output_dir": str(out), "cache_dir": str(out / "cache")}


def reading(bench):
    files = sorted((bench.corpus / "real").glob("*.mlir"), key=lambda p: -p.stat().st_size)
    plain = [f for f in files if "loc(" not in f.read_text(errors="replace")[:200000]][:6]
    output = subprocess.run([bench.program("reader_bench"), *plain], check=True, text=True,
                            capture_output=True).stdout
    for row in output.splitlines():
        name, size, parse, read, ratio = row.split("\t")
        line(f"read {pathlib.Path(name).name[:40]} ({int(size) // 1000} kB)",
             f"{float(read) * 1e3:.2f} ms, {ratio}x", f"parse+verify {float(parse) * 1e3:.2f} ms (goal 1.3x)")


def parts(bench):
    for name, extra in (("estimate_bench", []), ("machinery_bench", []), ("actors_bench", [])):
        program = bench.program(name)
        if not program.exists():
            continue
        print(f"-- {name}", flush=True)
        subprocess.run([program, *extra], check=True, stderr=subprocess.DEVNULL)


def cold(bench):
    times = {}
    # In turn, so that a slower spell of the machine meets both.
    for _ in range(5):
        for jobs in (1, 2):
            out = bench.fresh("cold")
            seconds, _ = bench.command(["sweep", bench.corpus / "real", "--hardware", "H100_SXM_80GB",
                                        "--jobs", jobs, "--out", out, "--quiet"])
            times[jobs] = min(times.get(jobs, seconds), seconds)
    line("cold sweep of real/ on one preset, 2 jobs", f"{times[2]:.3f} s, {times[1] / times[2]:.2f}x",
         f"1 job {times[1]:.3f} s (goal 1.6x)")


def warm(bench):
    modules = bench.fresh("warm-modules")
    small_modules(modules, 1000)
    machines = ",".join(json.loads(subprocess.run(
        [bench.nocturne, "hardware", "list", "--json"], check=True, capture_output=True).stdout)[i]["name"]
        for i in range(40))
    out = bench.fresh("warm")
    arguments = ["sweep", modules, "--hardware", machines, "--jobs", 1, "--out", out, "--quiet"]
    first, _ = bench.command(arguments)
    best = min(bench.command(arguments, cpus="0")[0] for _ in range(5))
    line("warm sweep, 1000 small modules x 40 machines, one core", f"{40000 / best:,.0f} results/s",
         f"cold {40000 / first:,.0f}/s (goal 50,000)")


def points(bench):
    module = bench.corpus / "hespas-fixtures" / "hespas__resnet_50_train_step_4_devices_1024_batch.mlir"
    rates = {}
    for jobs in (1, 2):
        out = bench.fresh("points")
        specification = out / "spec.json"
        specification.write_text(json.dumps(grid(10000, module, out)))
        seconds, _ = bench.command(["sweep", specification, "--jobs", jobs, "--quiet"],
                                   cpus="0" if jobs == 1 else None)
        rates[jobs] = 10000 / seconds
    line("10,000 grid points on ResNet-50 training, one core", f"{rates[1]:,.0f} points/s", "(goal 2,000)")
    line("the same with two jobs", f"{rates[2]:,.0f} points/s, {rates[2] / rates[1]:.2f}x", "(goal 1.6x)")


def memory(bench):
    peaks = {}
    for count in (200, 20000):
        modules = bench.fresh("memory-modules")
        small_modules(modules, count)
        out = bench.fresh("memory")
        _, peaks[count] = bench.command(["sweep", modules, "--hardware", "H100_SXM_80GB", "--jobs", 2,
                                         "--out", out, "--quiet"])
    line("peak memory, 20,000 small modules", f"{peaks[20000] / 2**20:.0f} MiB, "
         f"{peaks[20000] / peaks[200] - 1:+.0%}", f"200 modules {peaks[200] / 2**20:.0f} MiB (goal 20%)")
    module = bench.fresh("memory-one") / "m.mlir"
    small_modules(module.parent, 1)
    module = next(module.parent.glob("*.mlir"))
    for count in (100, 100000):
        out = bench.fresh("memory-points")
        specification = out / "spec.json"
        specification.write_text(json.dumps(grid(count, module, out)))
        _, peaks[count] = bench.command(["sweep", specification, "--jobs", 2, "--quiet"])
    line("peak memory, 100,000 points", f"{peaks[100000] / 2**20:.0f} MiB, "
         f"{peaks[100000] / peaks[100] - 1:+.0%}", f"100 points {peaks[100] / 2**20:.0f} MiB (goal 20%)")


def storage(bench, rows):
    print(f"-- storage_bench {rows}", flush=True)
    subprocess.run([bench.program("storage_bench"), str(rows)], check=True, cwd=bench.scratch)


def compiled(bench):
    """Speed of compiled code, where Google Benchmark was there to build its benchmark with."""
    program = pathlib.Path(bench.program("codegen_bench"))
    if not program.exists():
        print("compiled: skipped, codegen_bench was not built")
        return
    print("-- codegen_bench", flush=True)
    subprocess.run([program, "--benchmark_color=false"], check=True, cwd=bench.scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the storage benchmark")
    parser.add_argument("--modules", type=int, default=500, help="modules of the section \"batch\"")
    parser.add_argument("--only", default="", help="comma-separated names of sections")
    arguments = parser.parse_args()
    bench = Bench(arguments.build, arguments.corpus)
    sections = {"parts": parts, "reading": reading, "cold": cold, "warm": warm, "points": points,
                "memory": memory, "storage": lambda b: storage(b, arguments.rows),
                "compiled": compiled, "batch": lambda b: batch.report(b, line, arguments.modules)}
    wanted = arguments.only.split(",") if arguments.only else list(sections)
    needs_corpus = {"reading", "cold", "points"}
    try:
        for name in wanted:
            if name in needs_corpus and not bench.corpus.is_dir():
                print(f"{name}: skipped, no corpus at {bench.corpus}")
                continue
            sections[name](bench)
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
