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
SUM = "steelyard::sum_across_"
OPTIMIZER = "optimizer"


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

    def of_rank(self, rank: int, report: Path) -> list[str]:
        """The command line of a process; `{rank}` in a file's name is its number."""
        words = [word.replace("{rank}", str(rank)) for word in self.words]
        ranks = ["--ranks", str(rank_count())] if self.trains else []
        return ["run", *words, *ranks, "--format", "json", "-o", str(report)]


@contextlib.contextmanager
def _group() -> Iterator[Any]:
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
        dist.init_process_group("gloo", timeout=PATIENCE)
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


def _run(asked: Asked) -> int:
    with _group() as dist, tempfile.TemporaryDirectory() as folder:
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
            _write(merged(reports), asked)
        return 0


def _write(report: dict[str, Any], asked: Asked) -> None:
    text = json.dumps(report, indent=2) + "\n" if asked.format == "json" else told(report)
    if asked.output and asked.output != "-":
        Path(asked.output).write_text(text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def merged(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One report of those of all ranks, in their order.

    The straggler is the rank that takes longest for what it does alone: where gradients are
    averaged all wait for it, so that their whole steps take alike.
    """
    times = {
        stage: _spread([report["time"][stage]["median"] for report in reports])
        for stage in reports[0]["time"]
        if all(stage in report["time"] for report in reports)
    }
    alone = [_alone(report) for report in reports]
    out = {
        "schema": SCHEMA,
        "model": reports[0]["model"],
        "torch": reports[0]["torch"],
        "backend": "gloo",
        "ranks": len(reports),
        "time": times,
        "alone": _spread(alone),
        "waiting": _spread([_waited(report) for report in reports]),
        "straggler": alone.index(max(alone)) if any(alone) else None,
        "memory": {
            key: _spread([report["memory"][key] for report in reports])
            for key in ("peak", "predicted_peak", "process_peak")
        },
        "reports": list(reports),
    }
    for key in ("samples", "tokens"):
        if all(key in report for report in reports):
            out[key] = sum(report[key] for report in reports)
    return out


def _spread(values: Sequence[float]) -> dict[str, Any]:
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
        (f"  {stage}", *_cells(row, _core.Unit.SECONDS)) for stage, row in report["time"].items()
    ]
    rows.append(("  alone", *_cells(report["alone"], _core.Unit.SECONDS)))
    rows.append(("  in sums of gradients", *_cells(report["waiting"], _core.Unit.SECONDS)))
    memory = report["memory"]
    for name, key in (("peak", "peak"), ("peak, predicted", "predicted_peak")):
        rows.append((f"  {name}", *_cells(memory[key], _core.Unit.BYTES)))
    rows.append(("  process", *_cells(memory["process_peak"], _core.Unit.BYTES)))
    head = (f"{report['ranks']} ranks", "lowest", "median", "highest", "of rank")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [f"{report['model']}   torch {report['torch']}, {report['backend']}", ""]
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    lines += ["", *_remarks(report)]
    return "\n".join(lines) + "\n"


def _cells(row: dict[str, Any], unit: _core.Unit) -> tuple[str, str, str, str]:
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
