# SPDX-License-Identifier: Apache-2.0
"""What devices ran: from PyTorch's traces of real ones to the operators that asked for it."""

import gzip
import json
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import steelyard
import torch
from steelyard import _core
from steelyard.device_kernels import DeviceKernels
from torch.profiler import ProfilerActivity, profile

TRACES = Path(__file__).resolve().parent.parent / "data" / "traces"
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")

# As in src/record/format.h.
PAGE, CHUNK = 4096, 128 << 10
HEADER = struct.Struct("=8s4I6Q32sIIQQ")
CHUNK_HEAD = struct.Struct("=IIQQQ32x")
EVENT = struct.Struct("=QQQIBBH")
ENTRY = struct.Struct("=IIQ4QII")
EVENTS, ENTRIES = 1, 2
OP_ENTER, OP_LEAVE, OPS_BEGIN = 7, 8, 15
SY_CALL = 2
BEFORE = 1_000_000  # nanoseconds from the record's beginning to the first operator


class RecordOfTrace:
    """The record that there would be of the operators of a trace."""

    def __init__(self, trace: dict[str, Any]) -> None:
        self.operators = [e for e in trace["traceEvents"] if e["cat"] == "cpu_op"]
        self.base = trace.get("baseTimeNanoseconds", 0)
        self.first = min(self.nanoseconds(e["ts"]) for e in self.operators)
        self.ids: dict[str, int] = {}
        self.order = 1

    @staticmethod
    def nanoseconds(microseconds: float) -> int:
        return round(microseconds * 1000)

    def chunks(self, rows: list[bytes], kind: int, thread: int, system: int) -> Iterator[bytes]:
        bodies = [b""]
        for row in rows:
            if len(bodies[-1]) + len(row) > CHUNK - CHUNK_HEAD.size:
                bodies.append(b"")
            bodies[-1] += row
        for body in bodies:
            self.order += 1
            head = CHUNK_HEAD.pack(kind, self.order, thread, len(body), system)
            yield (head + body).ljust(CHUNK, b"\0")

    def events(self, spans: list[tuple[int, int, str]]) -> Iterator[bytes]:
        def at(time: int, kind: int, key: int = 0) -> bytes:
            return EVENT.pack(time - self.first + BEFORE, key, 0, 0, kind, 0, 0)

        yield at(self.first, OPS_BEGIN)
        ends: list[int] = []
        for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
            while ends and ends[-1] <= begin:
                yield at(ends.pop(), OP_LEAVE)
            yield at(begin, OP_ENTER, self.ids.setdefault(name, len(self.ids) + 1))
            ends.append(min([end, *ends[-1:]]))
        while ends:
            yield at(ends.pop(), OP_LEAVE)

    def entry(self, name: str, number: int) -> bytes:
        text = name.encode()
        size = (ENTRY.size + len(text) + 7) // 8 * 8
        return (ENTRY.pack(size, SY_CALL, number, 0, 0, 0, 0, len(text), 0) + text).ljust(
            size, b"\0"
        )

    def record(self) -> bytes:
        threads: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        for event in self.operators:
            begin = self.nanoseconds(event["ts"])
            span = (begin, begin + self.nanoseconds(event["dur"]), event["name"])
            threads[event["tid"]].append(span)
        body = b""
        for number, (system, spans) in enumerate(threads.items()):
            body += b"".join(self.chunks(list(self.events(spans)), EVENTS, number + 1, system))
        entries = [self.entry(name, number) for name, number in self.ids.items()]
        lasts = 10**12
        header = HEADER.pack(
            *(b"steelyrd", 4, 1, 1, 1),  # operators, of each step
            *(self.base + self.first, BEFORE, BEFORE, BEFORE + lasts, BEFORE + lasts, 0),
            *(b"2.0", 0, 0, 0, 0),
        )
        return header.ljust(PAGE, b"\0") + b"".join(self.chunks(entries, ENTRIES, 0, 0)) + body


def seconds_by_operator(trace: dict[str, Any]) -> Counter[str]:
    """As Kineto itself says which operator asked for what."""
    events = trace["traceEvents"]
    names = {e["args"]["External id"]: e["name"] for e in events if e["cat"] == "cpu_op"}
    seconds: Counter[str] = Counter()
    for event in events:
        if event["cat"] in ON_DEVICE and event["args"]["External id"] in names:
            seconds[names[event["args"]["External id"]]] += event["dur"] * 1e-6
    return seconds


@pytest.mark.parametrize("name", ["resnet", "toy"])  # of an A100 and an MI250
def test_kernels_are_of_the_operators_that_asked_for_them(name: str) -> None:
    text = gzip.decompress((TRACES / f"{name}.kineto.json.gz").read_bytes())
    trace = json.loads(text)
    record = RecordOfTrace(trace).record()
    record += _core.kernel_chunks(record, text, name)
    data = steelyard.WatchReport(record, whole=True).data
    ours = {op["op"]: op["device_seconds"] for op in data["operators"] if op["device_seconds"] > 0}
    assert ours == pytest.approx(dict(seconds_by_operator(trace)), rel=1e-6)
    ran = [event for event in trace["traceEvents"] if event["cat"] in ON_DEVICE]
    assert sum(kernel["calls"] for kernel in data["kernels"]) == len(ran)
    summed = sum(event["dur"] for event in ran) * 1e-6
    assert sum(kernel["seconds"] for kernel in data["kernels"]) == pytest.approx(summed)
    assert data["level"] == "kernels"
    assert 0 < data["steps"][-1]["device"] <= summed * (1 + 1e-6)
    copies = sum(
        event["args"]["bytes"]
        for event in ran
        if event["cat"] == "gpu_memcpy" and "bytes" in event["args"]
    )
    assert sum(k["bytes"] for k in data["kernels"] if k["kind"] == "copy") == pytest.approx(copies)


def test_a_trace_that_is_none_is_refused() -> None:
    with steelyard.watch() as watch:
        torch.ones(3)
    with pytest.raises(steelyard.InvalidInputError, match=r"t\.json"):
        _core.kernel_chunks(watch.record, b'{"traceEvents": [{"ts": "soon"}]}', "t.json")


def listening(remarks: list[str]) -> DeviceKernels:
    """As on a device, of which there is none here: what the CPU does instead."""
    kernels = DeviceKernels(remarks.append)
    kernels.start([ProfilerActivity.CPU])
    return kernels


def test_a_program_that_begins_a_profile_gets_it() -> None:
    remarks: list[str] = []
    kernels = listening(remarks)
    assert not remarks
    with profile(activities=[ProfilerActivity.CPU]) as own:
        torch.ones(3) + 1
    kernels.stop()
    assert any(event.key == "aten::add" for event in own.key_averages())
    assert remarks == ["the program began PyTorch's profiler, with which kernels end"]


def test_a_program_that_has_a_profile_keeps_it() -> None:
    remarks: list[str] = []
    with profile(activities=[ProfilerActivity.CPU]) as own:
        kernels = listening(remarks)
        torch.ones(3) + 1
        kernels.stop()
    assert any(event.key == "aten::add" for event in own.key_averages())
    assert "has them" in remarks[0]


def test_what_is_patched_is_put_back() -> None:
    from torch.autograd import profiler as native

    before = [native._prepare_profiler, native._enable_profiler]
    kernels = listening([])
    assert native._prepare_profiler is not before[0]
    kernels.stop()
    assert [native._prepare_profiler, native._enable_profiler] == before
    with steelyard.watch() as watch:
        torch.ones(3)
    assert kernels.chunks(watch.record) == b""  # a CPU runs no kernels
