# SPDX-License-Identifier: Apache-2.0
"""The block `flops_profiler` of a DeepSpeed configuration, for programs that are watched."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from steelyard.errors import UsageError
from steelyard.flops_profiler import FlopsProfiler
from steelyard.schedules import Schedule
from steelyard.watching import Watch

BLOCK = "flops_profiler"


@dataclass(frozen=True)
class ProfilerConfig:
    """What the block says, with DeepSpeed's defaults."""

    enabled: bool = False
    recompute_fwd_factor: float = 0.0
    profile_step: int = 1
    module_depth: int = -1
    top_modules: int = 1
    detailed: bool = True
    output_file: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ProfilerConfig:
        """A file without the block has the defaults, as in DeepSpeed."""
        where = os.fspath(path)
        try:
            text = Path(path).read_text(encoding="utf-8")
            block = json.loads(text).get(BLOCK, {})
        except (ValueError, AttributeError):
            raise UsageError("it is no DeepSpeed configuration in JSON", where) from None
        if not isinstance(block, dict):
            raise UsageError(f"{BLOCK} is no object", where)
        known = {field.name: type(field.default) for field in fields(cls)}
        for key, value in block.items():
            if key not in known:
                raise UsageError(f"{BLOCK} has no {key}", where, f"It has: {', '.join(known)}.")
            if not _fits(value, known[key]):
                raise UsageError(f"{BLOCK}.{key} is {json.dumps(value)}", where)
        return cls(**block)

    @property
    def schedule(self) -> Schedule:
        """Its step, as DeepSpeed numbers them from 0, after one that warms up."""
        warmup = min(self.profile_step, 1)
        return Schedule(self.profile_step - warmup, warmup, 1, repeat=1)

    def write(self, session: Watch, default: str | None) -> None:
        """Prints what DeepSpeed would have: to its file, to that one or to standard error."""
        model = session.first_model
        if model is None:
            raise UsageError("no model was called", BLOCK)
        factor = self.recompute_fwd_factor
        profiler = FlopsProfiler.of_record(model, session.record, recompute_fwd_factor=factor)
        with contextlib.redirect_stdout(sys.stderr):
            profiler.print_model_profile(
                self.profile_step,
                self.module_depth,
                self.top_modules,
                self.detailed,
                self.output_file or default,
            )
        for remark in session.report.data["remarks"]:
            print(f"steelyard: {remark}", file=sys.stderr)


def _fits(value: object, kind: type) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is float:
        return isinstance(value, (int, float))
    if kind is int:
        return isinstance(value, int)
    return value is None or isinstance(value, str)
