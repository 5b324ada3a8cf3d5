# SPDX-License-Identifier: Apache-2.0
"""A step in several processes, each on its own inputs, that average their gradients.

    torchrun --nproc-per-node 2 -m steelyard run model.pt2 --train sgd

Each process runs `steelyard run`; what it takes is gathered by the first one, which tells of every
figure the lowest, the median and the highest, and which process the others wait for.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard import _core
from steelyard.errors import SteelyardError, UnsupportedError, UsageError

SCHEMA = "steelyard.ranks/1"
# By what name the engine finds the group.
GROUP = "steelyard"
# How long a process waits for others that neither answer nor end.
PATIENCE = datetime.timedelta(minutes=5)
# What sums gradients; the time in it is mostly that of waiting.
GLOO, NCCL = "gloo", "nccl"
SUM = "steelyard::sum_across_"
OPTIMIZER = "optimizer"

# What is told of the memory of all processes, and how it is called.
MEMORY = {
    "peak": "peak",
    "predicted_peak": "peak, predicted",
    "allocated_peak": "allocated",
    "reserved_peak": "reserved",
    "process_on_device": "on the device",
    "process_peak": "process",
}


def rank_count() -> int:
    """How many processes torchrun has started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def main(words: Sequence[str]) -> int:
    """Runs what stands behind `steelyard run` in this process; returns the exit status."""
    try:
        return _run(Asked.of(words))
    except SteelyardError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        return 1


@dataclass
class Asked:
    """What is asked of the merged report, and the words that each process is given."""

    words: list[str] = field(default_factory=list)
    format: str = "text"
    output: str = ""

    @classmethod
    def of(cls, words: Sequence[str]) -> Asked:
        asked, rest = cls(), list(words)
        while rest:
            name, equals, value = rest.pop(0).partition("=")
            if name in ("--format", "-o", "--output"):
                if not equals and not rest:
                    raise UsageError("it needs a value", name)
                value = value if equals else rest.pop(0)
                if name == "--format":
                    asked.format = value
                else:
                    asked.output = value
            else:
                asked.words.append(name + equals + value)
        if asked.format not in ("text", "json"):
            raise UsageError(
                f'there is no format "{asked.format}" of several processes',
                "--format",
                "There are: text, json.",
            )
        for refused in ("--compare", "--ranks"):
            if any(word.partition("=")[0] == refused for word in asked.words):
                raise UsageError("it is not for several processes", refused, "Leave it away.")
        return asked

    @property
    def trains(self) -> bool:
        return any(word.partition("=")[0] == "--train" for word in self.words)

    @property
    def device(self) -> str:
        """What `--device` says, the last one."""
        device = "cpu"
        for i, word in enumerate(self.words):
            name, equals, value = word.partition("=")
            if name == "--device" and (equals or i + 1 < len(self.words)):
                device = value if equals else self.words[i + 1]
        return device

    def of_rank(self, rank: int, report: Path) -> list[str]:
        """The command line of a process; `{rank}` in a file's name is its number."""
        words = [word.replace("{rank}", str(rank)) for word in self.words]
        ranks = ["--ranks", str(rank_count())] if self.trains else []
        return ["run", *words, *ranks, "--format", "json", "-o", str(report)]


@contextlib.contextmanager
def _group(backend: str) -> Iterator[Any]:
    """torch.distributed, with a group of all processes that the engine finds."""
    import torch.distributed as dist

    if not dist.is_available():
        raise UnsupportedError(
            "this PyTorch is built without torch.distributed",
            "torchrun",
            "Install one of PyTorch's own wheels, or run one process: python -m steelyard run.",
        )
    from torch._C._distributed_c10d import _register_process_group

    try:
        dist.init_process_group(backend, timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise UnsupportedError(f"the processes do not find each other: {_first(error)}") from None
    _register_process_group(GROUP, dist.group.WORLD)
    try:
        yield dist
    finally:
        # Not where a process has failed: the others would be waited for.
        if sys.exc_info()[0] is None:
            dist.destroy_process_group()


def _first(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _take_device() -> None:
    """Each process of a machine has a CUDA device of its own, as torchrun numbers them."""
    import torch

    rank, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if rank >= count:
        raise UsageError(
            f"process {rank} of this machine has no CUDA device: there are {count}",
            "--device",
            f"Start at most {count}: torchrun --nproc-per-node {count}."
            if count
            else "It takes a PyTorch with CUDA, and NVIDIA's driver.",
        )
    torch.cuda.set_device(rank)


def _run(asked: Asked) -> int:
    on_cpu = asked.device == "cpu"
    if not on_cpu:
        _take_device()
    # Reports are gathered in the host's memory, gradients summed where they are.
    backend = GLOO if on_cpu else f"cpu:{GLOO},cuda:{NCCL}"
    with _group(backend) as dist, tempfile.TemporaryDirectory() as folder:
        rank, path = dist.get_rank(), Path(folder) / "report.json"
        if status := _core.main(asked.of_rank(rank, path)):
            return status  # it has said why, and ends the group
        report = json.loads(path.read_text())
        reports: list[Any] | None = [None] * rank_count() if rank == 0 else None
        try:
            dist.gather_object(report, reports, dst=0)
        except RuntimeError as error:
            raise UnsupportedError(
                f"a process ended before it told what it measured: {_first(error)}",
                f"rank {rank}",
                "What it said on standard error is the reason.",
            ) from None
        if reports is not None:
            _write(merged(reports, GLOO if on_cpu else NCCL), asked)
        return 0


def _write(report: dict[str, Any], asked: Asked) -> None:
    text = json.dumps(report, indent=2) + "\n" if asked.format == "json" else told(report)
    if asked.output and asked.output != "-":
        Path(asked.output).write_text(text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def merged(reports: Sequence[dict[str, Any]], backend: str = GLOO) -> dict[str, Any]:
    """One report of those of all ranks, in their order.

    The straggler is the rank that takes longest for what it does alone: where gradients are
    averaged all wait for it, so that their whole steps take alike.
    """
    times = {
        stage: spread([report["time"][stage]["median"] for report in reports])
        for stage in reports[0]["time"]
        if all(stage in report["time"] for report in reports)
    }
    alone = [_alone(report) for report in reports]
    out = {
        "schema": SCHEMA,
        "model": reports[0]["model"],
        "torch": reports[0]["torch"],
        "backend": backend,
        "ranks": len(reports),
        "time": times,
        "alone": spread(alone),
        "waiting": spread([_waited(report) for report in reports]),
        "straggler": alone.index(max(alone)) if any(alone) else None,
        "memory": {
            key: spread([report["memory"][key] for report in reports])
            for key in MEMORY
            if all(key in report["memory"] for report in reports)
        },
        "reports": list(reports),
    }
    for key in ("samples", "tokens"):
        if all(key in report for report in reports):
            out[key] = sum(report[key] for report in reports)
    return out


def spread(values: Sequence[float]) -> dict[str, Any]:
    return {
        "lowest": min(values),
        "median": statistics.median(values),
        "highest": max(values),
        "slowest" if isinstance(values[0], float) else "most": values.index(max(values)),
    }


def _waited(report: dict[str, Any]) -> float:
    return float(sum(op["seconds"] for op in report["operators"] if op["op"] == SUM))


def _alone(report: dict[str, Any]) -> float:
    """Seconds of the stages that wait for no other process."""
    stages = report["time"].items()
    return float(sum(s["median"] for name, s in stages if name not in (OPTIMIZER, "step")))


def told(report: dict[str, Any]) -> str:
    """The merged report for people."""
    rows = [
        (f"  {stage}", *cells(row, _core.Unit.SECONDS)) for stage, row in report["time"].items()
    ]
    rows.append(("  alone", *cells(report["alone"], _core.Unit.SECONDS)))
    rows.append(("  in sums of gradients", *cells(report["waiting"], _core.Unit.SECONDS)))
    memory = report["memory"]
    rows += [
        (f"  {name}", *cells(memory[key], _core.Unit.BYTES))
        for key, name in MEMORY.items()
        if key in memory
    ]
    head = (f"{report['ranks']} ranks", "lowest", "median", "highest", "of rank")
    lines = [f"{report['model']}   torch {report['torch']}, {report['backend']}", ""]
    lines += [*aligned([head, *rows]), "", *_remarks(report)]
    return "\n".join(lines) + "\n"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, of which the first column has names."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        words = [row[0].ljust(widths[0])]
        words += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(words).rstrip())
    return lines


def cells(row: dict[str, Any], unit: _core.Unit) -> tuple[str, str, str, str]:
    low, middle, high = (
        _core.format(float(row[key]) if unit == _core.Unit.SECONDS else int(row[key]), unit)
        for key in ("lowest", "median", "highest")
    )
    return low, middle, high, str(row.get("slowest", row.get("most")))


def _remarks(report: dict[str, Any]) -> list[str]:
    lines = []
    alone, straggler = report["alone"], report["straggler"]
    if straggler is not None and alone["median"] > 0:
        more = _core.format(alone["highest"] / alone["median"] - 1, _core.Unit.PERCENT)
        lines.append(
            f"Straggler: rank {straggler}, {more} over the median of what each does alone."
        )
    step = report["time"].get("step") or report["time"].get("forward")
    for key in ("samples", "tokens"):
        if step and step["highest"] > 0 and key in report:
            lines.append(f"All ranks: {report[key] / step['highest']:.1f} {key}/s.")
    return lines
