#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models on the CUDA device that is here, each next to its prediction.

usage: bench.py [MODEL.pt2...]

Writes results/NAME.json beside this file, of the device's name; see README.md.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests/engine"))
STEELYARD = os.environ.setdefault("STEELYARD", str(ROOT / "build/release/steelyard"))

import torch  # noqa: E402
from exported import Exported, tensors_in  # noqa: E402
from torch.export.passes import move_to_device_pass  # noqa: E402

SMALL = ("translator", "tagger", "transformer-network", "window", "diffusion", "mamba")
LARGE = ROOT / "examples/bert-base-mlm-b4-s128.pt2"
STEPS = (
    (),
    ("--train", "sgd"),
    ("--train", "adamw"),
    ("--train", "adamw", "--fused"),
    ("--train", "adamw", "--amp", "bf16"),
    ("--train", "adamw", "--amp", "fp16"),
)
TIED = "assumed tied: "
TURNS = 5
RUNS = 20


def run(path: Path, *options: object) -> dict[str, Any]:
    """The report of `steelyard run`, or what it said where it could not."""
    line = [STEELYARD, "run", str(path), "--device", "cuda", "--format", "json"]
    done = subprocess.run([*line, *map(str, options)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr.strip()}
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def told(report: dict[str, Any]) -> dict[str, Any]:
    """Of a report what is kept."""
    if "error" in report:
        return report
    memory = report["memory"]
    out: dict[str, Any] = {
        "events": memory["events"],
        "differences": len(memory["differences"]),
        "operators_that_differ": sorted({row["op"] for row in memory["differences"]}),
        "time": {
            stage: {key: row[key] for key in ("median", "lowest", "highest")}
            for stage, row in report["time"].items()
        },
    }
    kept = (
        "peak",
        "predicted_peak",
        "allocated_peak",
        "predicted_allocated_peak",
        "reserved_peak",
        "predicted_reserved_peak",
        "process_on_device",
        "besides_reserved",
    )
    out |= {key: memory[key] for key in kept if key in memory}
    for key in ("share_of_peak", "stable"):
        if key in report:
            out[key] = report[key]
    return out


def load(path: Path) -> Exported:
    """The program, with the tensors tied that a file of structure alone does not tell."""
    line = [STEELYARD, "weigh", str(path), "--format", "json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    messages = [note["message"] for note in json.loads(done.stdout)["notes"]]
    tied = [text.removeprefix(TIED) for text in messages if text.startswith(TIED)]
    return Exported.load(path, dict(pair.split(" = ") for pair in tied))


def eager_seconds(path: Path) -> float:
    """A step of SGD in eager PyTorch, the median."""
    exported = load(path)
    args, kwargs = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda tensor: tensor.cuda(), exported.arguments()
    )
    exported.program.example_inputs = None  # they may hold nothing, and would be moved
    program = move_to_device_pass(exported.program, "cuda")
    module = program.module(check_guards=False)
    wanted = [p for p in module.parameters() if p.requires_grad]
    stepper = torch.optim.SGD(wanted, foreach=False)

    def step() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        first = next(tensors_in(module(*args, **kwargs)))
        first.backward()
        stepper.step()
        stepper.zero_grad()
        del first
        torch.cuda.synchronize()
        return time.perf_counter() - start

    for _ in range(RUNS):
        step()
    return statistics.median(step() for _ in range(RUNS))


def beside_eager(path: Path) -> dict[str, Any]:
    ours, theirs = [], []
    for _ in range(TURNS):
        theirs.append(eager_seconds(path))
        options = ("--train", "sgd", "--warmup", RUNS, "--number", 1, "--repeat", RUNS)
        report = run(path, *options)
        if "error" in report:
            return report
        ours.append(float(report["time"]["step"]["median"]))
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return {
        "eager_seconds": statistics.median(theirs),
        "engine_seconds": statistics.median(ours),
        "ratio": statistics.median(ratios),
        "lowest": ratios[0],
        "highest": ratios[-1],
    }


def main(names: list[str]) -> int:
    models = [ROOT / f"tests/data/train/{name}.pt2" for name in SMALL]
    models = [Path(name) for name in names] or [*models, LARGE]
    first = run(models[0], "--warmup", 1, "--number", 1, "--repeat", 1)
    if "error" in first:
        sys.stderr.write(first["error"] + "\n")
        return 1
    name = first.get("device_name", first["device"])
    results: dict[str, Any] = {
        "device": name,
        "row": first["device"],
        "driver": first.get("driver"),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "models": {},
    }
    for path in models:
        print(path.stem, flush=True)
        of_model: dict[str, Any] = {
            " ".join(step) or "forward": told(run(path, *step)) for step in STEPS
        }
        compared = run(path, "--train", "adamw", "--compare", "fp32,bf16")
        of_model["fp32,bf16"] = compared.get("ratios", compared)
        of_model["beside eager"] = beside_eager(path)
        results["models"][path.stem] = of_model
    file = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / f"{file}.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
