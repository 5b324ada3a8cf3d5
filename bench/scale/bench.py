#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weighs generated programs of 10^4, 10^5 and 10^6 operators: time and memory of the whole process.

usage: bench.py [--binary build/release/steelyard] [--runs 5]
"""

from __future__ import annotations

import argparse
import json
import os
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    results = []
    print(f"{'operators':>10}{'file MB':>9}{'s':>8}{'cpu s':>8}{'us/op':>8}{'MiB':>8}{'B/op':>8}")
    for nodes in SIZES:
        path = ROOT / f"build/scale-{nodes}.syt"
        generate(nodes, path)
        elapsed, cpu, memory = min(weigh(options.binary, path) for _ in range(options.runs))
        results.append(
            {
                "operators": nodes,
                "file_bytes": path.stat().st_size,
                "seconds": elapsed,
                "cpu_seconds": cpu,
                "peak_bytes": memory,
            }
        )
        print(
            f"{nodes:10}{path.stat().st_size / 1e6:9.1f}{elapsed:8.3f}{cpu:8.3f}"
            f"{elapsed / nodes * 1e6:8.2f}{memory / 2**20:8.0f}{memory / nodes:8.0f}"
        )
        path.unlink()
    (ROOT / "bench/scale/results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
