# SPDX-License-Identifier: Apache-2.0
"""What a profile recorded, event by event, as PyTorch's own `FunctionEvent`s."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
from collections.abc import Iterator
from typing import Any, ClassVar

from torch.autograd import DeviceType
from torch.autograd.profiler_util import MEMORY_EVENT_NAME, EventList, FunctionEvent

from steelyard import _core

# What `at::RecordScope` calls them.
FUNCTION, BACKWARD, USER = 0, 1, 7
OF_PYTHON = ("function", "module")
STEP = "ProfilerStep#"
US = 1e3  # nanoseconds of a microsecond
# Releases of PyTorch differ in what an event takes.
KNOWN = frozenset(inspect.signature(FunctionEvent.__init__).parameters)


def events_of(run: _core.Profile, *, memory: bool, flops: bool, stacks: bool) -> EventList:
    """The events in the order of their beginnings, each with what is around and inside it."""
    names, inputs = run.names, _Inputs(run)
    rows = run.span_rows(stacks)
    events = []
    for number, row in enumerate(rows):
        kind, name = row[0], names[row[1]]
        if kind in OF_PYTHON and not stacks:
            continue
        events.append(_event(number + 1, row, name, [names[n] for n in row[-1]], inputs))
    numbers = itertools.count(len(rows) + 1)  # spans keep theirs, also those that are left out
    if memory:
        events += _memory(run, numbers)
    events += _on_device(run, names, events, numbers)
    events.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
    device = "cuda" if any(event.device_type == DeviceType.CUDA for event in events) else None
    made = EventList(events, use_device=device, profile_memory=memory, with_flops=flops)
    made._build_tree()
    return made


def _event(number: int, row: Any, name: str, stack: list[str], inputs: _Inputs) -> FunctionEvent:
    kind, _, overload, begin, end, thread, forward, sequence, given, size, flops, module, _ = row
    values = inputs.of(given) if kind not in ("engine", *OF_PYTHON) else inputs.none
    scope = {"node": BACKWARD, "range": USER}.get(kind, FUNCTION)
    event = _made(
        id=number,
        name=f"{STEP[:-1]}*" if name.startswith(STEP) else name,
        trace_name=name,
        overload_name=overload,
        thread=thread,
        fwd_thread=forward,
        start_us=begin / US,
        end_us=end / US,
        stack=stack if kind not in OF_PYTHON else [],
        scope=scope,
        cpu_memory_usage=size,
        sequence_nr=sequence,
        flops=flops,
        is_user_annotation=kind == "range",
        is_python_function=kind in OF_PYTHON,
        external_id=number,
        kwinputs={},
        **values,
    )
    event.module = module or None
    return event


def _on_device(
    run: _core.Profile, names: list[str], events: list[FunctionEvent], numbers: Iterator[int]
) -> list[FunctionEvent]:
    """What devices ran, each of which is also told of by the event that asked for it."""
    by_id = {event.id: event for event in events}
    made: list[FunctionEvent] = []
    for name, begin, end, device, stream, span in run.device_rows():
        asked = by_id.get(span + 1)
        if asked is not None:
            asked.append_kernel(names[name], device, (end - begin) / US)
        made.append(
            _made(
                id=next(numbers),
                name=names[name],
                trace_name=names[name],
                overload_name="",
                thread=stream,
                fwd_thread=None,
                start_us=begin / US,
                end_us=end / US,
                stack=[],
                input_shapes=[],
                use_device="cuda",
                device_type=DeviceType.CUDA,
                device_index=device,
                device_resource_id=stream,
                flops=0,
            )
        )
    return made


def _memory(run: _core.Profile, numbers: Iterator[int]) -> list[FunctionEvent]:
    """What was allocated and freed outside of all else."""
    return [
        _made(
            id=next(numbers),
            name=MEMORY_EVENT_NAME,
            trace_name=None,
            overload_name="",
            thread=thread,
            fwd_thread=thread,
            start_us=at / US,
            end_us=at / US,
            stack=[],
            input_shapes=[],
            cpu_memory_usage=size,
            flops=0,
        )
        for at, thread, size in run.memory_outside()
    ]


def _made(**values: Any) -> FunctionEvent:
    return FunctionEvent(**{key: value for key, value in values.items() if key in KNOWN})


class _Inputs:
    """What calls were given; those that are alike share it."""

    none: ClassVar[dict[str, Any]] = {
        "input_shapes": [],
        "structured_input_shapes": [],
        "structured_input_strides": [],
        "concrete_inputs": [],
        "input_dtypes": [],
    }

    def __init__(self, run: _core.Profile) -> None:
        self._run = run
        self._known: dict[int, dict[str, Any]] = {}

    def of(self, inputs: int) -> dict[str, Any]:
        known = self._known.get(inputs)
        if known is None:
            known = self._known[inputs] = self._read(inputs)
        return known

    def _read(self, inputs: int) -> dict[str, Any]:
        rows = self._run.inputs_of(inputs)
        shapes = [json.loads(sizes) for sizes, *_ in rows]
        return {
            # A list of tensors has none here, as in PyTorch.
            "input_shapes": [[] if any(map(_is_list, shape)) else shape for shape in shapes],
            "structured_input_shapes": shapes,
            "structured_input_strides": [json.loads(strides) for _, strides, *_ in rows],
            "concrete_inputs": [_value(text) for *_, text in rows],
            "input_dtypes": [kind for _, _, kind, _ in rows],
        }


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _value(text: str) -> Any:
    """`[2., 3.]` as Python has it; nothing of what is no number."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
