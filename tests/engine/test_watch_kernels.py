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
from steelyard.key_averages import KeyAverages
from steelyard.profile_events import events_of
from torch.autograd import DeviceType
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


@pytest.fixture(scope="module")
def resnet() -> tuple[dict[str, Any], _core.Profile]:
    text = gzip.decompress((TRACES / "resnet.kineto.json.gz").read_bytes())
    trace = json.loads(text)
    record = RecordOfTrace(trace).record()
    record += _core.kernel_chunks(record, text, "resnet")
    return trace, _core.read_profile(record, "resnet")


def on_device(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event.get("cat") in ON_DEVICE]


def test_averages_have_the_times_of_devices(resnet: tuple[dict[str, Any], _core.Profile]) -> None:
    trace, run = resnet
    rows = run.averages(
        by_inputs=False, stack_depth=0, by_module=False, by_overload=False, functions=False
    )
    own = {row.name: row.own_device_microseconds for row in rows if not row.on_device}
    asked = {name: 1e6 * seconds for name, seconds in seconds_by_operator(trace).items()}
    assert {name: of for name, of in own.items() if of > 0} == pytest.approx(asked, rel=1e-4)
    kernels: Counter[str] = Counter()
    for event in on_device(trace):
        kernels[event["name"]] += event["dur"]
    told = {row.name: row.device_microseconds for row in rows if row.on_device}
    assert told == pytest.approx(dict(kernels), rel=1e-4)
    table = KeyAverages.of(rows, memory=False, flops=False, shapes=False)
    text = table.table(sort_by="cuda_time_total", row_limit=5)
    assert "Self CUDA %" in text
    assert "Self CUDA time total: 135." in text
    first = table.table(sort_by="self_cuda_time_total", row_limit=1).splitlines()[3]
    assert max(asked, key=lambda name: asked[name]) in first


def test_events_have_kernels(resnet: tuple[dict[str, Any], _core.Profile]) -> None:
    trace, run = resnet
    events = events_of(run, memory=False, flops=False, stacks=False)
    ran = [event for event in events if event.device_type == DeviceType.CUDA]
    assert len(ran) == len(on_device(trace))
    of_convolutions = [e for e in events if e.name == "aten::cudnn_convolution"]
    times = [kernel.duration for event in of_convolutions for kernel in event.kernels]
    truth = seconds_by_operator(trace)["aten::cudnn_convolution"]
    assert sum(times) == pytest.approx(1e6 * truth, rel=1e-4)


def test_traces_have_kernels(resnet: tuple[dict[str, Any], _core.Profile]) -> None:
    trace, run = resnet
    text = json.loads(run.trace(_core.TraceForm.CHROME, "t.json", []))
    ours, theirs = on_device(text), on_device(trace)
    assert Counter(e["name"] for e in ours) == Counter(e["name"] for e in theirs)
    times = {round(1e3 * e["dur"]) for e in ours}
    assert all(any(abs(t - round(1e3 * e["dur"])) <= 1 for t in times) for e in theirs[:50])
    calls = {
        e["args"]["correlation"]: e for e in text["traceEvents"] if e.get("cat") == "cuda_runtime"
    }
    operators = {
        e["args"]["External id"]: e["name"] for e in text["traceEvents"] if e.get("cat") == "cpu_op"
    }
    seconds: Counter[str] = Counter()
    for event in ours:
        assert event["args"]["correlation"] in calls
        if "External id" in event["args"]:
            seconds[operators[event["args"]["External id"]]] += event["dur"] * 1e-6
    assert dict(seconds) == pytest.approx(dict(seconds_by_operator(trace)), rel=1e-4)
    arrows = [e for e in text["traceEvents"] if e.get("cat") == "ac2g"]
    assert len(arrows) == 2 * len(ours)


def test_perfetto_has_a_track_for_each_stream(resnet: tuple[dict[str, Any], _core.Profile]) -> None:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    trace, run = resnet
    read = perfetto_trace_pb2.Trace()  # type: ignore[attr-defined]
    read.ParseFromString(run.trace(_core.TraceForm.PERFETTO, "t", []))
    tracks = {
        p.track_descriptor.name: p.track_descriptor.uuid
        for p in read.packet
        if p.HasField("track_descriptor")
    }
    streams = {(e["args"]["device"], e["args"]["stream"]) for e in on_device(trace)}
    named = {f"GPU {device}, stream {stream}" for device, stream in streams}
    assert named <= set(tracks)
    of_streams = {tracks[name] for name in named}
    begins = [
        p.track_event for p in read.packet if p.HasField("track_event") and p.track_event.type == 1
    ]
    assert sum(event.track_uuid in of_streams for event in begins) == len(on_device(trace))


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
