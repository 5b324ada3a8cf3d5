#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weighs generated programs of 10^4, 10^5 and 10^6 operators: time and memory of the whole process.

From the text form by `steelyard weigh`, and made by the C++ builder (built.cc), where building and
weighing are timed apart.

usage: bench.py [--binary build/release/steelyard] [--runs 5]

Where Linux's perf is there and may count, instructions too: unlike seconds they do not depend on
what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from generate import generate

ROOT = Path(__file__).resolve().parents[2]
SIZES = (10_000, 100_000, 1_000_000)


def weigh(binary: str, path: Path) -> tuple[float, float, int]:
    """Seconds by the clock and of the processor, and the highest resident set in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen([binary, "weigh", str(path)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{binary} refused {path}")
    elapsed = time.perf_counter() - begin
    return elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def build_and_weigh(binary: str, nodes: int) -> dict[str, float]:
    """Seconds of building and of weighing, as the program itself takes them."""
    done = subprocess.run([binary, str(nodes)], check=True, capture_output=True, text=True)
    times: dict[str, float] = json.loads(done.stdout)
    return times


def instructions(binary: str, path: Path) -> int | None:
    """Of the whole process, in user mode."""
    if shutil.which("perf") is None:
        return None
    command = ["perf", "stat", "-x", ",", "-e", "instructions:u", binary, "weigh", str(path)]
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    count = re.search(r"^(\d+),", done.stderr, re.MULTILINE)
    return int(count.group(1)) if done.returncode == 0 and count else None


def cpu_name() -> str:
    match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return match.group(1) if match else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("--built", default=str(ROOT / "build/release/bench/scale/built"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    results = []
    head = (
        "operators",
        "file MB",
        "s",
        "cpu s",
        "us/op",
        "MiB",
        "B/op",
        "instr/op",
        "build s",
        "weigh s",
    )
    print("".join(f"{word:>10}" for word in head))
    for nodes in SIZES:
        path = ROOT / f"build/scale-{nodes}.syt"
        generate(nodes, path)
        elapsed, cpu, memory = min(weigh(options.binary, path) for _ in range(options.runs))
        counted = instructions(options.binary, path)
        built = min(
            (build_and_weigh(options.built, nodes) for _ in range(options.runs)),
            key=lambda times: times["weigh_s"],
        )
        results.append(
            {
                "operators": nodes,
                "file_bytes": path.stat().st_size,
                "seconds": elapsed,
                "cpu_seconds": cpu,
                "peak_bytes": memory,
                "instructions": counted,
                "builder": {"build_seconds": built["build_s"], "weigh_seconds": built["weigh_s"]},
            }
        )
        print(
            f"{nodes:10}{path.stat().st_size / 1e6:10.1f}{elapsed:10.3f}{cpu:10.3f}"
            f"{elapsed / nodes * 1e6:10.2f}{memory / 2**20:10.0f}{memory / nodes:10.0f}"
            f"{'-' if counted is None else counted // nodes:>10}"
            f"{built['build_s']:10.3f}{built['weigh_s']:10.3f}"
        )
        path.unlink()
    (ROOT / "bench/scale/results.json").write_text(
        json.dumps({"cpu": cpu_name(), "sizes": results}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
