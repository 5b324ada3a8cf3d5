# SPDX-License-Identifier: Apache-2.0
"""What is alike in a profile, summed, with the columns and the table of PyTorch's profiler."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard import _core
from steelyard.errors import UsageError

MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}
FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
NUMBER_WIDTH, GAP = 12, "  "


@dataclass
class KeyAverage:
    """Calls that are alike. Times are microseconds, memory is bytes of the CPU."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    flops: int = 0
    input_shapes: list[Any] | str = ""
    overload_name: str = ""
    stack: list[str] = field(default_factory=list)
    module: str | None = None
    is_user_annotation: bool = False
    is_outermost: bool = False  # the first of them was in no other
    # What PyTorch's rows have, and what is alike in all of these.
    node_id: int = field(default=-1, init=False)
    is_async: bool = field(default=False, init=False)
    is_remote: bool = field(default=False, init=False)
    is_legacy: bool = field(default=False, init=False)

    @property
    def cpu_time(self) -> float:
        """Of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def self_cpu_time(self) -> float:
        return self.self_cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        return _time(self.cpu_time, None)

    @property
    def cpu_time_total_str(self) -> str:
        return _time(self.cpu_time_total, None)

    @property
    def self_cpu_time_total_str(self) -> str:
        return _time(self.self_cpu_time_total, None)

    # Of what it asked CUDA devices for; a row of what these ran has nothing else.
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    on_device: bool = False

    @property
    def device_time(self) -> float:
        """Of one call."""
        return self.device_time_total / self.count if self.count else 0.0

    # Of their memory nothing is recorded: what programs sort by is there, and nothing.
    device_memory_usage: int = field(default=0, init=False)
    self_device_memory_usage: int = field(default=0, init=False)


# What `sort_by` takes: what a row has that can be compared.
SORT_KEYS = (
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time",
    "self_cpu_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "count",
    "flops",
    "key",
    "input_shapes",
    "overload_name",
    "stack",
    "module",
    "is_user_annotation",
    "node_id",
    "is_async",
    "is_remote",
    "is_legacy",
    "device_time",
    "device_time_total",
    "self_device_time_total",
    "device_memory_usage",
    "self_device_memory_usage",
)


class KeyAverages(list[KeyAverage]):
    """The rows, in the order in which the first call of each began."""

    def __init__(self, rows: Iterable[KeyAverage], *, memory: bool, flops: bool) -> None:
        super().__init__(rows)
        self._memory, self._flops = memory, flops

    @classmethod
    def of(
        cls, rows: Sequence[_core.KeyAverage], *, memory: bool, flops: bool, shapes: bool
    ) -> KeyAverages:
        return cls(
            (_row(row, shapes=shapes) for row in rows if row.name != "[memory]" or memory),
            memory=memory,
            flops=flops,
        )

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        return sum(row.self_cpu_time_total for row in self)

    @property
    def self_device_time_total(self) -> float:
        """What devices ran, each once."""
        return sum(row.self_device_time_total for row in self if row.on_device)

    def total_average(self) -> KeyAverage:
        """All rows as one."""
        total = KeyAverage("Total")
        for row in self:
            total.count += row.count
            total.cpu_time_total += row.cpu_time_total
            total.self_cpu_time_total += row.self_cpu_time_total
            total.cpu_memory_usage += row.cpu_memory_usage
            total.self_cpu_memory_usage += row.self_cpu_memory_usage
            if row.on_device:
                total.device_time_total += row.device_time_total
                total.self_device_time_total += row.self_device_time_total
            total.flops += row.flops
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Returns the rows as text, of `row_limit` rows at most; -1: of all. With
        `top_level_events_only` those that were first called by no other."""
        if not self:
            return ""
        if time_unit is not None and time_unit not in MICROSECONDS:
            raise UsageError(f'there is no unit "{time_unit}"', "time_unit", "us, ms or s.")
        rows = self._sorted(sort_by)
        if top_level_events_only:
            rows = [row for row in rows if row.is_outermost]
        if row_limit >= 0:
            rows = rows[:row_limit]
        columns = [_Column("Name", [_cut(row.key, max_name_column_width) for row in rows])]
        if any(row.overload_name for row in self):
            overloads = [_cut(row.overload_name, max_name_column_width) for row in rows]
            columns.append(_Column("Overload Name", overloads))
        columns += [
            *self._numbers(rows, time_unit),
        ]
        if any(row.input_shapes for row in self):
            shapes = [str(row.input_shapes or []) for row in rows]
            columns.append(
                _Column("Input Shapes", [_cut(s, max_shapes_column_width) for s in shapes])
            )
        if any(row.module is not None for row in self):
            modules = [row.module or "(outside)" for row in rows]
            columns.append(_Column("Module", [_cut(m, max_name_column_width) for m in modules]))
        if self._flops:
            columns += _flops_column(self, rows)
        lines = _lines(columns, [row.stack for row in rows], max_src_column_width)
        totals = [f"Self CPU time total: {_time(self.self_cpu_time_total, time_unit)}"]
        if self.self_device_time_total:
            of_device = _time(self.self_device_time_total, time_unit)
            totals.append(f"Self CUDA time total: {of_device}")
        above = [] if header is None else ["=" * len(lines[0]), header]
        return "\n".join([*above, *lines, *totals, ""])

    def _sorted(self, sort_by: str | None) -> list[KeyAverage]:
        if sort_by is None:
            return list(self)
        for device in ("cuda", "xpu", "privateuse1"):  # as they are called
            sort_by = sort_by.replace(device, "device")
        if sort_by not in SORT_KEYS:
            names = ", ".join(SORT_KEYS)
            raise UsageError(f'rows have no "{sort_by}"', "sort_by", f"They have: {names}.")
        if sort_by == "input_shapes":
            return sorted(self, key=lambda row: str(row.input_shapes), reverse=True)
        if sort_by == "module":
            return sorted(self, key=lambda row: row.module or "", reverse=True)
        return sorted(self, key=lambda row: getattr(row, sort_by), reverse=True)

    def _numbers(self, rows: list[KeyAverage], unit: str | None) -> list[_Column]:
        whole = self.self_cpu_time_total
        columns = [
            _Column("Self CPU %", [_share(row.self_cpu_time_total, whole) for row in rows]),
            _Column("Self CPU", [_time(row.self_cpu_time_total, unit) for row in rows]),
            _Column("CPU total %", [_share(row.cpu_time_total, whole) for row in rows]),
            _Column("CPU total", [_time(row.cpu_time_total, unit) for row in rows]),
            _Column("CPU time avg", [_time(row.cpu_time, unit) for row in rows]),
        ]
        if ran := self.self_device_time_total:
            columns += [
                _Column("Self CUDA", [_time(row.self_device_time_total, unit) for row in rows]),
                _Column("Self CUDA %", [_share(row.self_device_time_total, ran) for row in rows]),
                _Column("CUDA total", [_time(row.device_time_total, unit) for row in rows]),
                _Column("CUDA time avg", [_time(row.device_time, unit) for row in rows]),
            ]
        if self._memory:
            columns += [
                _Column("CPU Mem", [_bytes(row.cpu_memory_usage) for row in rows]),
                _Column("Self CPU Mem", [_bytes(row.self_cpu_memory_usage) for row in rows]),
            ]
        return [*columns, _Column("# of Calls", [str(row.count) for row in rows])]


@dataclass
class _Column:
    title: str
    cells: list[str]

    @property
    def width(self) -> int:
        return max(NUMBER_WIDTH, len(self.title), *map(len, self.cells))


def _row(row: _core.KeyAverage, *, shapes: bool) -> KeyAverage:
    return KeyAverage(
        key=row.name,
        count=row.count,
        cpu_time_total=row.microseconds,
        self_cpu_time_total=row.own_microseconds,
        cpu_memory_usage=row.bytes,
        self_cpu_memory_usage=row.own_bytes,
        flops=row.flops,
        input_shapes=_shapes(row.inputs) if shapes else "",
        overload_name=row.overload,
        stack=row.stack,
        module=row.module,
        is_user_annotation=row.is_user_annotation,
        is_outermost=row.is_outermost,
        device_time_total=row.device_microseconds,
        self_device_time_total=row.own_device_microseconds,
        on_device=row.on_device,
    )


def _shapes(text: str) -> list[Any]:
    """`[[2, 3], []]` as lists."""
    import json

    return list(json.loads(text)) if text else []


def _lines(columns: list[_Column], stacks: list[list[str]], most: int | None) -> list[str]:
    has_stacks = any(stacks)
    width = max((len(_tail(line, most)) for stack in stacks for line in stack), default=0)
    ruler = GAP.join("-" * column.width for column in columns)
    titles = GAP.join(column.title.rjust(column.width) for column in columns)
    if has_stacks:
        ruler += GAP + "-" * width
        titles += f"{GAP}Source Location"
    lines = [ruler, titles, ruler]
    for number, stack in enumerate(stacks):
        line = GAP.join(column.cells[number].rjust(column.width) for column in columns)
        if has_stacks:
            sources = [_tail(source, most) for source in stack] or [""]
            lines.append((line + GAP + sources[0]).rstrip())
            lines += [" " * len(line) + GAP + source for source in sources[1:]]
        else:
            lines.append(line)
    return [*lines, ruler]


def _flops_column(every: list[KeyAverage], rows: list[KeyAverage]) -> list[_Column]:
    """In the unit that fits the smallest number."""
    counted = [row.flops for row in every if row.flops > 0]
    if not counted:
        return []
    power = min(int(math.log10(min(counted)) // 3), len(FLOPS) - 1)
    cells = [f"{row.flops / 1000**power:.3f}" if row.flops > 0 else "--" for row in rows]
    return [_Column(f"Total {FLOPS[power]}", cells)]


def _cut(text: str, most: int | None) -> str:
    if most is None or len(text) < most - 3:
        return text
    return text[: max(most - 3, 0)] + "..."


def _tail(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else "..." + text[len(text) - most + 3 :]


def _time(microseconds: float, unit: str | None) -> str:
    if unit is None:
        unit = next((u for u in ("s", "ms") if microseconds >= MICROSECONDS[u]), "us")
    return f"{microseconds / MICROSECONDS[unit]:.3f}{unit}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def _bytes(count: int) -> str:
    for unit, power in (("GB", 3), ("MB", 2), ("KB", 1)):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count} B"
