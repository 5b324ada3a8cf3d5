#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `steelyard weigh` beside torch's flop counter, in one run.

usage: bench.py [--binary build/release/steelyard] [--floor build/release/bench/static/floor]

Whole-process figures are hyperfine's. FlopCounterMode is timed inside a process that has torch loaded already, on the
program that torch.export.load gives, with all tensors on the meta device: the most favourable way to run it.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/data/models"
# Limits of the project for the whole process, in milliseconds.
CASES = {"bert-base-mlm-b4-s128": 5.0, "llama3-8b-b1-s2048": 12.0}


def hyperfine(command: list[str]) -> dict[str, float]:
    out = ROOT / "build/hyperfine.json"
    run = [
        "hyperfine",
        "-N",
        "--warmup",
        "20",
        "--runs",
        "200",
        "--export-json",
        str(out),
        " ".join(command),
    ]
    subprocess.run(run, check=True, capture_output=True)
    result = json.loads(out.read_text())["results"][0]
    return {
        "mean_ms": result["mean"] * 1e3,
        "min_ms": result["min"] * 1e3,
        "stddev_ms": result["stddev"] * 1e3,
    }


def flop_counter(path: Path, repeats: int = 3) -> dict[str, float]:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    begin = time.perf_counter()
    module = torch.export.load(path).module()
    loading = time.perf_counter() - begin
    inputs = torch.export.load(path).example_inputs
    args, kwargs = inputs if inputs is not None else ((), {})
    args, kwargs = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: t.to("meta"), (args, kwargs)
    )
    times = []
    with torch.no_grad():
        for _ in range(repeats):
            begin = time.perf_counter()
            with FlopCounterMode(display=False) as counter:
                module(*args, **kwargs)
            times.append(time.perf_counter() - begin)
    return {
        "load_ms": loading * 1e3,
        "count_ms": min(times) * 1e3,
        "flops": counter.get_total_flops(),
    }


def cpu_name() -> str:
    match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return match.group(1) if match else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("--floor", default=str(ROOT / "build/release/bench/static/floor"))
    options = parser.parse_args()
    results: dict[str, Any] = {"cpu": cpu_name(), "models": {}}
    print(f"{'model':28}{'weigh ms':>10}{'limit':>8}{'floor ms':>10}{'torch ms':>10}{'ratio':>8}")
    for name, limit in CASES.items():
        path = MODELS / f"{name}.pt2"
        row: dict[str, Any] = {
            "limit_ms": limit,
            "weigh": hyperfine([options.binary, "weigh", str(path), "--format", "json"]),
        }
        row["floor"] = hyperfine([options.floor, str(path)])
        row["text"] = hyperfine([options.binary, "weigh", str(path)])
        row["flop_counter"] = flop_counter(path)
        row["ratio"] = row["flop_counter"]["count_ms"] / row["weigh"]["mean_ms"]
        results["models"][name] = row
        print(
            f"{name:28}{row['weigh']['mean_ms']:10.2f}{limit:8.1f}{row['floor']['mean_ms']:10.2f}"
            f"{row['flop_counter']['count_ms']:10.1f}{row['ratio']:8.0f}"
        )
    (ROOT / "bench/static/results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
