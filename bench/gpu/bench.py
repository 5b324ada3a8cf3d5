#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models on the CUDA device that is here, each next to its prediction and next to PyTorch.

Writes results/NAME.json beside this file, of the device's name; see README.md. With --device cpu
what is compared is compared on the CPU, which shows that this works.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests/engine"))
STEELYARD = os.environ.setdefault("STEELYARD", str(ROOT / "build/release/steelyard"))

import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from exported import SEED, Exported, contiguous, tensors_in  # noqa: E402
from kernels import kernels_of  # noqa: E402
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
# Optimizers whose numbers are compared, and the options that say the same.
OPTIMIZERS = {
    "sgd": (
        lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9, foreach=False),
        ("--momentum", "0.9", "--optim-args", "lr=0.01"),
    ),
    "adamw": (
        lambda parameters: torch.optim.AdamW(parameters, lr=0.001, foreach=False),
        ("--optim-args", "lr=0.001"),
    ),
}
COMPARED_STEPS = 3
TIED = "assumed tied: "
TURNS = 5
RUNS = 20


device = "cuda"


def run(path: Path, *options: object) -> dict[str, Any]:
    """The report of `steelyard run`, or what it said where it could not."""
    line = [STEELYARD, "run", str(path), "--format", "json"]
    line += [] if device == "cpu" else ["--device", device]
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


def on_device(exported: Exported) -> tuple[torch.nn.Module, Any, Any]:
    """The module there, and what it is called with."""
    args, kwargs = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda tensor: tensor.to(device), exported.arguments()
    )
    if device == "cpu":
        return exported.module(), args, kwargs
    exported.program.example_inputs = None  # they may hold nothing, and would be moved
    program = move_to_device_pass(exported.program, device)
    return program.module(check_guards=False), args, kwargs


def wait() -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def numbers(path: Path, optimizer: str) -> dict[str, Any]:
    """The loss, gradients and parameters after some steps, next to PyTorch's: how many tensors are
    equal bit for bit, and the largest difference, of a tensor's largest element."""
    make, options = OPTIMIZERS[optimizer]
    exported = load(path)
    with tempfile.TemporaryDirectory() as folder:
        weights, inputs, saved = (Path(folder) / name for name in ("w", "i", "s"))
        safetensors.torch.save_file(contiguous(exported.weights), weights)
        safetensors.torch.save_file(contiguous(exported.inputs), inputs)
        files = ["--weights", weights, "--inputs", inputs, "--save", saved, "--seed", SEED]
        steps = ["--train", optimizer, *options, "--steps", COMPARED_STEPS]
        report = run(path, *files, *steps, "--repeat", 0)
        if "error" in report:
            return report
        ours = safetensors.torch.load_file(saved)
    module, args, kwargs = on_device(exported)
    trained = {name: p for name, p in module.named_parameters() if p.requires_grad}
    stepper = make(list(trained.values()))
    torch.manual_seed(SEED)
    for _ in range(COMPARED_STEPS):
        stepper.zero_grad()
        returned = module(*args, **kwargs)
        outputs = list(tensors_in(returned))
        named = returned.get("loss") if isinstance(returned, dict) else None
        (outputs[0] if named is None else named).backward()
        stepper.step()
    theirs = {f"outputs.{i}": tensor for i, tensor in enumerate(outputs)}
    theirs |= {f"parameters.{name}": p for name, p in trained.items()}
    theirs |= {f"gradients.{name}": p.grad for name, p in trained.items() if p.grad is not None}
    worst, equal = 0.0, 0
    for name, tensor in contiguous(theirs).items():
        ours_of = ours[name]
        equal += bool(torch.equal(ours_of, tensor))
        largest = float(tensor.abs().max()) if tensor.numel() > 0 else 0.0
        off = float((ours_of.double() - tensor.double()).abs().max()) if tensor.numel() > 0 else 0.0
        worst = max(worst, off / largest if largest > 0 else off)
    return {"tensors": len(theirs), "equal": equal, "largest_difference": worst}


def eager_step(path: Path) -> Callable[[], None]:
    """A step of SGD in eager PyTorch, as it steps by default."""
    module, args, kwargs = on_device(load(path))
    stepper = torch.optim.SGD([p for p in module.parameters() if p.requires_grad])

    def step() -> None:
        next(tensors_in(module(*args, **kwargs))).backward()
        stepper.step()
        stepper.zero_grad()

    return step


def eager_seconds(path: Path) -> float:
    """The median of such a step."""
    run_step = eager_step(path)

    def step() -> float:
        wait()
        start = time.perf_counter()
        run_step()
        wait()
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


def of_processes(path: Path) -> dict[str, Any] | None:
    """A step of as many processes as there are devices, through NCCL; nothing with one device."""
    count = torch.cuda.device_count()
    if count < 2:
        return None
    line = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count)]
    line += ["-m", "steelyard", "run", str(path), "--device", "cuda", "--train", "adamw"]
    done = subprocess.run([*line, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr.strip()}
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def main() -> int:
    global device
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("models", nargs="*", metavar="MODEL.pt2")
    asked = parser.parse_args()
    device, names = asked.device, asked.models
    models = [ROOT / f"tests/data/train/{name}.pt2" for name in SMALL]
    models = [Path(name) for name in names] or [*models, LARGE]
    first = run(models[0], "--warmup", 1, "--number", 1, "--repeat", 1)
    if "error" in first:
        sys.stderr.write(first["error"] + "\n")
        return 1
    name = first.get("device_name", first.get("device", device))
    results: dict[str, Any] = {
        "device": name,
        "row": first.get("device"),
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
        of_model["numbers"] = {optimizer: numbers(path, optimizer) for optimizer in OPTIMIZERS}
        of_model["kernels"] = kernels_of(eager_step(path), wait)
        results["models"][path.stem] = of_model
    if (processes := of_processes(models[0])) is not None:
        results["processes"] = processes
    if device == "cpu":
        print(json.dumps(results, indent=1))
        return 0
    file = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / f"{file}.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
