#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `steelyard weigh` beside the tools that people use for it today, in one run.

usage: bench.py [--binary build/release/steelyard] [--floor build/release/bench/static/floor]

Whole-process figures of Steelyard are hyperfine's. A peer counts on tensors without data, in a
process of its own (peers.py), and both its call and its process are timed, beside the same of
Steelyard: a forward pass, or a training step with AdamW. The search of `--fit` is timed beside one
weighing of what it finds.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from peers import PEERS

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/data/models"


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


def peer(name: str, model: str) -> dict[str, Any]:
    """What peers.py prints of a peer, with the time of its whole process; the better of two."""
    runs = []
    for _ in range(2):
        begin = time.perf_counter()
        command = [sys.executable, str(ROOT / "bench/static/peers.py"), name, model]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return {"refused": done.stderr.strip().splitlines()[-1]}
        row = json.loads(done.stdout.splitlines()[-1])
        runs.append({**row, "process_ms": (time.perf_counter() - begin) * 1e3})
    return min(runs, key=lambda run: run["count_ms"])


# Limits of the project for the whole process, in milliseconds.
LIMITS = {"bert-base-mlm-b4-s128": 5.0, "llama3-8b-b1-s2048": 12.0}
TRAIN_LIMITS = {"bert-base-mlm-b4-s128": 8.0, "llama3-8b-b1-s2048": 30.0}


# The file whose batch is searched, how far, and how many weighings' time the search may take.
FIT_MODEL = "bert-base-mlm-symbolic"
FIT_SIZE = "80GB"
FIT_LIMIT = 20.0
FIT_OPTIONS = ["--seq", "512", "--train", "adamw", "--loss", "sum"]


def search(binary: str) -> dict[str, Any]:
    """The search for the largest batch, beside a weighing of that batch."""
    weigh = [binary, "weigh", str(MODELS / f"{FIT_MODEL}.pt2"), *FIT_OPTIONS, "--format", "json"]
    done = subprocess.run([*weigh, "--fit", FIT_SIZE], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)["memory"]["fit"]
    return {
        "model": FIT_MODEL,
        "limit": FIT_LIMIT,
        "batch": found["size"],
        "weighings": found["weighings"],
        "search": hyperfine([*weigh, "--fit", FIT_SIZE]),
        "one": hyperfine([*weigh, "--batch", str(found["size"])]),
    }


def show_search(row: dict[str, Any]) -> None:
    search_ms, one_ms = row["search"]["mean_ms"], row["one"]["mean_ms"]
    print(
        f"{row['model']} --fit {FIT_SIZE}: {search_ms:.2f} ms for {row['weighings']} weighings, "
        f"{search_ms / one_ms:.1f} x one ({one_ms:.2f} ms), of {row['limit']:.0f} x"
    )


def show_peer(name: str, measured: dict[str, Any], of: float) -> None:
    if "refused" in measured:
        print(f"  {name:26} refused: {measured['refused'][:60]}")
        return
    times = [measured[k] / of for k in ("count_ms", "process_ms")]
    print(
        f"  {name:26}{measured['count_ms']:10.1f} ms, {times[0]:6.0f} x; whole process "
        f"{measured['process_ms']:10.0f} ms, {times[1]:6.0f} x"
    )


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
    for name, limit in LIMITS.items():
        path = str(MODELS / f"{name}.pt2")
        weigh = [options.binary, "weigh", path]
        row: dict[str, Any] = {
            "limit_ms": limit,
            "weigh": hyperfine([*weigh, "--format", "json"]),
            "text": hyperfine(weigh),
            "floor": hyperfine([options.floor, path]),
            "train_limit_ms": TRAIN_LIMITS[name],
            "train": hyperfine([*weigh, "--train", "adamw", "--format", "json"]),
            "peers": {p: peer(p, name) for p in PEERS},
        }
        results["models"][name] = row
        print(f"{name}: floor {row['floor']['mean_ms']:.2f} ms")
        for what, least in (("weigh", limit), ("text", limit), ("train", TRAIN_LIMITS[name])):
            print(f"  {what:26}{row[what]['mean_ms']:10.2f} ms of {least:.0f}")
        for p, measured in row["peers"].items():
            same = row["train" if PEERS[p].trains else "weigh"]
            show_peer(p, measured, same["mean_ms"])
    results["fit"] = search(options.binary)
    show_search(results["fit"])
    (ROOT / "bench/static/results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
