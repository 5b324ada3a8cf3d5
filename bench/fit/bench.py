#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often, and by how much, a predicted peak is below the measured one.

usage: bench.py [--binary build/release/steelyard] [FOLDER...]

FOLDER (default: those of tests/data) holds NAME.pt2 and NAME.truth.json, as tools/measure_truth.py
and tools/measure_cuda_truth.py write them. Every peak in them is weighed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "tests/data" / name for name in ("models", "forward", "train", "cuda")]
# The exported programs of tests/data/cuda are those of tests/data/models.
PROGRAMS = ROOT / "tests/data/models"

TRAINED = {
    "train_SGD": ["--train", "sgd"],
    "train_AdamW": ["--train", "adamw"],
    "train_AdamW_fused": ["--train", "adamw", "--fused"],
    "train_AdamW_autocast_bf16": ["--train", "adamw", "--amp", "bf16"],
    "train_SGD_autocast_bf16": ["--train", "sgd", "--amp", "bf16"],
    "train_SGD_autocast_fp16_scaler": ["--train", "sgd", "--amp", "fp16"],
}
H100 = ["--device", "h100", "--no-cudnn-attention"]
# What a CUDA truth calls its peaks, and the report of a weighing.
CUDA_PEAKS = {"allocated": "peak", "reserved": "reserved_peak"}


@dataclass(frozen=True)
class Peak:
    """One measured peak, and how to ask for the prediction."""

    device: str
    what: str
    model: str
    measured: int
    arguments: tuple[str, ...]
    figure: str


def cpu_peaks(truth: dict[str, Any], program: str) -> Iterator[Peak]:
    def peak(what: str, measured: int, *arguments: str) -> Peak:
        return Peak("cpu", what, truth["name"], measured, (program, *arguments), "peak_delta")

    if "forward_no_grad" in truth:
        yield peak("forward", truth["forward_no_grad"]["peak"])
    for phase, arguments in TRAINED.items():
        step = truth.get(phase, {})
        more = [*arguments, *loss_of(truth)]
        kind = "step under autocast" if "--amp" in arguments else "step"
        if "step1_peak" in step:
            yield peak(kind, step["step1_peak"], *more, "--first-step")
        if "step2_peak" in step:
            yield peak(kind, step["step2_peak"], *more)


def cuda_peaks(truth: dict[str, Any], program: str) -> Iterator[Peak]:
    for phase, arguments in {"forward_no_grad": [], **TRAINED}.items():
        for suffix, form in (("", []), ("_module", ["--as", "module"])):
            more = [*H100, *arguments, *(loss_of(truth) if arguments else []), *form]
            for step, first in (("step1", ["--first-step"]), ("steady", [])):
                found = truth.get(phase + suffix, {}).get(step)
                if not found or (first and not arguments):
                    continue
                for what, figure in CUDA_PEAKS.items():
                    asked = (program, *more, *first)
                    yield Peak("h100", what, truth["name"], found[what], asked, figure)


def loss_of(truth: dict[str, Any]) -> list[str]:
    return [] if truth.get("loss") == "in the graph" else ["--loss", "cross-entropy"]


def peaks_in(folder: Path) -> Iterator[Peak]:
    for path in sorted(folder.glob("*.truth.json")):
        truth = json.loads(path.read_text())
        beside = folder / f"{truth['name']}.pt2"
        program = beside if beside.exists() else PROGRAMS / beside.name
        if "name" not in truth or not program.exists() or len(truth.get("sizes", [])) > 1:
            continue
        steady = [step for step in truth.values() if isinstance(step, dict) and "steady" in step]
        yield from (cuda_peaks if steady else cpu_peaks)(truth, str(program))


def predicted(binary: str, peak: Peak) -> int | str:
    """The bytes, or in a line why there are none."""
    command = [binary, "weigh", *peak.arguments, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0]
    return int(json.loads(done.stdout)["memory"][peak.figure])


@dataclass(frozen=True)
class Line:
    """Errors are shares of the measured peak; below are those predicted lower than measured."""

    device: str
    what: str
    peaks: int
    refused: int
    equal: int
    below: int
    worst_below: float
    worst_above: float
    median_error: float


def line_of(device: str, what: str, found: list[tuple[Peak, int | str]]) -> Line:
    errors = [(said - p.measured) / p.measured for p, said in found if isinstance(said, int)]
    return Line(
        device=device,
        what=what,
        peaks=len(found),
        refused=len(found) - len(errors),
        equal=errors.count(0),
        below=sum(e < 0 for e in errors),
        worst_below=abs(min([0.0, *errors])),
        worst_above=max([0.0, *errors]),
        median_error=statistics.median(map(abs, errors)) if errors else 0.0,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "build/release/steelyard"))
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    options = parser.parse_args()
    peaks = [peak for folder in options.folders for peak in peaks_in(folder)]
    if not peaks:
        print("no truth files in " + ", ".join(map(str, options.folders)), file=sys.stderr)
        return 2
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda peak: predicted(options.binary, peak), peaks))
    groups: dict[tuple[str, str], list[tuple[Peak, int | str]]] = defaultdict(list)
    for peak, said in zip(peaks, told, strict=True):
        groups[peak.device, peak.what].append((peak, said))
        if said != peak.measured:
            print(f"{peak.model}: {' '.join(peak.arguments[1:])}: {said} of {peak.measured}")
    lines = [line_of(*key, found) for key, found in groups.items()]
    print("| device | peaks of | peaks | refused | equal | below | by at most | above by at most |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for x in lines:
        print(
            f"| {x.device} | {x.what} | {x.peaks} | {x.refused} | {x.equal} | {x.below} "
            f"| {x.worst_below:.2%} | {x.worst_above:.2%} |"
        )
    if options.folders == FOLDERS:
        text = json.dumps([asdict(x) for x in lines], indent=2)
        (ROOT / "bench/fit/results.json").write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
