# SPDX-License-Identifier: Apache-2.0
"""What PyTorch does when it is asked to make a call: results, and every allocation and free."""

import faulthandler
import gc
import json
import os
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cache
from multiprocessing import get_context
from typing import Any, TypeVar

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
import torch.distributed._functional_collectives  # defines gradients of collectives
from calls import DTYPES, Call, DType, Tensor
from compare import Events, Seen
from torch.profiler import ProfilerActivity, profile, record_function
from torch.testing._internal.distributed.fake_pg import FakeStore

# Where tensors are made: "cuda" in a process of cuda_recorder.py.
DEVICE = os.environ.get("STEELYARD_DEVICE", "cpu")
# What fits a host's memory, and what the stub of CUDA copies; larger tensors are not filled there.
MOST_FILLED = 4 << 20
MARK = "steelyard call "
# As many as the rows of collectives take part in their examples.
PROCESSES = 4
SHORT_NAMES = {getattr(torch, name): short for short, name in DTYPES.items()}
# Operators that tell what is not zero: rows take it that everything may be.
OF_NONZERO = (
    "aten::nonzero",
    "aten::nonzero_numpy",
    "aten::nonzero_static",
    "aten::argwhere",
    "aten::where",
)
# Operators that take another path where they find a zero: rows take it that they find none.
OF_ZEROS = ("aten::cumprod_backward",)
# Operators that refuse matrices without an inverse.
OF_MATRICES = ("aten::linalg_", "aten::_linalg_", "aten::inverse")
# Operators of matrices that take another path by their norm: rows take it to be in an interval.
OF_NORMS = ("aten::linalg_matrix_exp", "aten::matrix_exp")
MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")

# oneDNN takes a kernel that it has made before for operands it deems alike, as columns of matrices
# with a single one are: each call is to be what it is on its own. It reads this when it is first
# asked for a kernel.
os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] = "0"
torch.set_num_threads(1)
warnings.filterwarnings("ignore")


@cache
def join_processes() -> None:
    """Makes this one of four processes, of which the others are not there (group '0')."""
    store = FakeStore()
    torch.distributed.init_process_group("fake", rank=0, world_size=PROCESSES, store=store)


def overload(op: str) -> Any:
    """The operator "aten::sum.dim_IntList" as PyTorch's Python has it."""
    namespace, name = op.split("::")
    if namespace.startswith("_c10d_functional"):
        join_processes()
    packet, _, which = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), which or "default")


def filled(tensor: Tensor, number: int, op: str = "") -> torch.Tensor:
    """A tensor of its own, no view; several of its elements may lie in one place.

    Masks are true everywhere, as rows of `op` take them to be whose results depend on it.
    """
    dtype = getattr(torch, DTYPES[tensor.dtype])
    if DEVICE != "cpu" and tensor.storage_elements() * dtype.itemsize > MOST_FILLED:
        return torch.empty_strided(tensor.sizes, tensor.strides, dtype=dtype, device=DEVICE)
    made = torch.empty_strided(tensor.sizes, tensor.strides, dtype=dtype)
    elements = made.as_strided((tensor.storage_elements(),), (1,))
    elements.fill_(True if dtype == torch.bool else number)
    make_matrices(made, op)
    if DEVICE == "cpu":
        return made
    if op.endswith("grouped_mm") and dtype == torch.int32:  # where groups end: none is empty
        torch.arange(1, len(elements) + 1, out=elements)
    return on_device(made)


def make_matrices(made: torch.Tensor, op: str) -> None:
    """Overwrites what `op` takes as matrices, of which it asks more than that they are there."""
    if made.dim() < 2 or not op.startswith((*OF_NORMS, *OF_MATRICES)):
        return
    norm = 2
    if op.startswith(OF_NORMS):
        made.zero_()
        norm = 2 if made.dtype in (torch.float32, torch.complex64) else 1
    made.diagonal(0, -2, -1).fill_(norm)


def on_device(made: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides."""
    out = torch.empty_strided(made.shape, made.stride(), dtype=made.dtype, device=DEVICE)
    out.untyped_storage().copy_(made.untyped_storage())
    return out


# Recurrent networks that cuDNN has on CUDA, by the numbers of its kinds.
CUDNN_MODES = {
    "aten::rnn_relu.input": 0,
    "aten::rnn_tanh.input": 1,
    "aten::lstm.input": 2,
    "aten::gru.input": 3,
}


# What is called in place of operators, by name: cuda_recorder.py says what.
INSTEAD: dict[str, Callable[..., Any]] = {}


class Made:
    """A call with its tensors made, filled with `number` (zeros are no divisors)."""

    def __init__(self, call: Call, number: int) -> None:
        self.inputs: list[torch.Tensor] = []
        self.buffer: torch.Tensor | None = None  # of a recurrent network's weights
        self.function = overload(call.op)
        self.op = call.op
        self.args = [self.make(value, number) for value in call.args]
        self.kwargs = {name: self.make(value, number) for name, value in call.kwargs}
        arguments = {argument.name for argument in self.function._schema.arguments}
        self.function = INSTEAD.get(call.op, self.function)
        if DEVICE != "cpu" and "device" in arguments:
            self.kwargs.setdefault("device", torch.device(DEVICE))
        if DEVICE != "cpu" and call.op in CUDNN_MODES:
            self.flatten_weights()

    def flatten_weights(self) -> None:
        """Puts the weights of a recurrent network into one buffer, as modules have them on CUDA."""
        hidden, params, biased, layers, _, _, both_ways, batch_first = self.args[1:9]
        state, cells = hidden if isinstance(hidden, list) else (hidden, hidden)
        projected = state.size(2) if state.size(2) != cells.size(2) else 0
        each = (4 if biased else 2) + (1 if projected else 0)
        sizes = (params[0].size(1), CUDNN_MODES[self.op], cells.size(2), projected, layers)
        self.buffer = torch._cudnn_rnn_flatten_weight(params, each, *sizes, batch_first, both_ways)

    def is_buffer(self, tensor: torch.Tensor) -> bool:
        """Whether it is the weights of a recurrent network as a whole."""
        return (
            self.buffer is not None
            and tensor.data_ptr() == self.buffer.data_ptr()
            and tensor.shape == self.buffer.shape
        )

    def make(self, value: Any, number: int) -> Any:
        if isinstance(value, Tensor):
            self.inputs.append(filled(value, number, self.op))
            return self.inputs[-1]
        if isinstance(value, DType):
            return getattr(torch, DTYPES[value.name])
        if isinstance(value, str) and value in MEMORY_FORMATS:
            return getattr(torch, value)
        if isinstance(value, tuple):
            return [self.make(element, number) for element in value]
        return value

    def run(self) -> Any:
        return self.function(*self.args, **self.kwargs)


def tensors_in(result: Any) -> Iterator[torch.Tensor | None]:
    """Tensors of a result, and None for sizes and for what the operator left out."""
    if result is None or isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, (tuple, list)):
        for element in result:
            yield from tensors_in(element)
    elif isinstance(result, int) and not isinstance(result, bool):
        yield None  # a size that goes with tensors


def describe(inputs: Sequence[torch.Tensor], result: Any) -> list[dict[str, Any] | None]:
    """The outputs as the probe describes them."""
    outputs = list(tensors_in(result))
    while outputs and outputs[-1] is None:
        outputs.pop()
    tensors: dict[int, str] = {}
    storages: dict[int, str] = {}
    for letter, group in (("x", inputs), ("y", outputs)):
        for i, t in enumerate(group):
            if t is not None:
                tensors.setdefault(id(t), f"{letter}{i}")
                storages.setdefault(t.untyped_storage()._cdata, f"{letter}{i}")

    def described(t: torch.Tensor) -> dict[str, Any]:
        return {
            "dtype": SHORT_NAMES[t.dtype],
            "sizes": list(t.shape),
            "strides": list(t.stride()),
            "storage": storages[t.untyped_storage()._cdata],
            "is": tensors[id(t)],
        }

    return [None if t is None else described(t) for t in outputs]


def record(runs: Sequence[Callable[[], Any]]) -> list[list[list[Any]]]:
    """The events of each run, in one session: [innermost operator, signed bytes]."""
    cpu = [ProfilerActivity.CPU]
    with profile(activities=cpu, profile_memory=True) as session:
        for i, run in enumerate(runs):
            with record_function(f"{MARK}{i}"):
                outputs = list(tensors_in(run()))
                while outputs:
                    outputs.pop()  # as a tuple of them goes
    out: list[list[list[Any]]] = [[] for _ in runs]
    for open_operators, size in memory_events(session.profiler.kineto_results.events()):
        if open_operators:  # else between two calls
            name = open_operators[-1]
            call = int(open_operators[0].removeprefix(MARK))
            out[call].append(["" if name.startswith(MARK) else name, size])
    return out


def memory_events(events: Sequence[Any]) -> Iterator[tuple[list[str], int]]:
    """Each allocation and free in order: the operators that are running, outermost first."""
    ops, memory = [], []
    for k, event in enumerate(events):
        start = event.start_ns()
        if event.name() == "[memory]":
            memory.append((start, k, event.nbytes()))
        else:
            # Of two operators that start together, the outer one takes longer.
            ops.append((start, -event.duration_ns(), event.name()))
    ops.sort()
    memory.sort()
    running: list[tuple[int, str]] = []  # end and name
    begun = 0
    for at, _, size in memory:
        while begun < len(ops) and ops[begun][0] <= at:
            start, negative_duration, name = ops[begun]
            running.append((start - negative_duration, name))
            begun += 1
        running = [entry for entry in running if entry[0] >= at]
        yield [name for _, name in running], size


def attempt(call: Call) -> tuple[Made | None, Seen]:
    """The call ready to run again, and its outputs; None and why, where PyTorch refuses it."""
    why = ""
    for number in (1,) if call.op in OF_NONZERO + OF_ZEROS else (0, 1):
        try:
            made = Made(call, number)
            outputs = describe(made.inputs, made.run())
            return Made(call, number), {"outputs": outputs}
        except Exception as error:  # whatever an operator raises
            why = why or str(error).split("\n")[0]
    return None, {"refused": why}


T = TypeVar("T")
W = TypeVar("W")
R = TypeVar("R")

# How a child process exits when what it runs raises; PyTorch itself ends by signals.
FAILED = 3


def in_child(ask: Callable[[T], Seen], calls: Sequence[T]) -> list[Seen]:
    """What `ask` says of each call, in a child process: some calls end PyTorch itself."""
    seen: list[Seen] = []
    while len(seen) < len(calls):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            faulthandler.disable()
            try:
                with os.fdopen(write_end, "w") as pipe:
                    for call in calls[len(seen) :]:
                        print(json.dumps(ask(call)), file=pipe, flush=True)
            except BaseException:
                traceback.print_exc()
                os._exit(FAILED)
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            seen += [json.loads(line) for line in pipe]
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == FAILED:
            raise RuntimeError(f"asking about {calls[len(seen)]} fails")
        if len(seen) < len(calls):
            seen.append({"refused": "PyTorch crashes"})
    return seen


def refusal(error: Exception) -> Seen:
    """What an operator raises, as the tests tell it."""
    # A process forked off one that ran a backward pass can run none: it would be taken for an
    # operator's own refusal, of every step.
    if "fork-based multiprocessing" in str(error):
        raise error
    return {"refused": str(error).split("\n")[0]}


def isolated(work: Callable[[W], R], given: W) -> R:
    """What `work` makes of `given`, in a new process that has run no backward pass. PyTorch may end
    it long after a call that wrote where it should not: then it is tried again."""
    for _ in range(3):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool, suppress(BrokenProcessPool):
            return pool.submit(work, given).result()
    raise RuntimeError("PyTorch ends the process that calls it")


def events_of(run: Callable[[], object], unseen: str | None = None) -> Events:
    """Every allocation and free of a run, as the innermost operator and signed bytes.

    Records of the profiler whose names start with `unseen` are none: those of other threads are
    open while this one goes on.
    """
    gc.collect()
    gc.disable()
    cpu = [ProfilerActivity.CPU]
    with profile(activities=cpu, profile_memory=True) as session:
        run()
    gc.enable()
    seen = [
        event
        for event in session.profiler.kineto_results.events()
        if unseen is None or not event.name().startswith(unseen)
    ]
    found = memory_events(seen)
    return [[running[-1] if running else "", size] for running, size in found]


def judge(calls: Sequence[Call]) -> list[Seen]:
    """What each call gives."""
    with torch.no_grad():
        return in_child(lambda call: attempt(call)[1], calls)


Recorded = tuple[list[tuple[Seen, Made]], list[list[list[Any]]]]


def recorded(calls: Sequence[Call], found: Sequence[Seen], again: int = 2) -> Recorded:
    """Those of the calls that PyTorch accepts, with their events.

    Some kernels read memory that nobody has written (observers of ranges that do not match), so
    that what was accepted may be refused the next time: then all are made and run again.
    """
    accepted = [
        (seen, made)
        for call, seen in zip(calls, found, strict=True)
        if "refused" not in seen and (made := attempt(call)[0]) is not None
    ]
    try:
        return accepted, record([made.run for _, made in accepted])
    except RuntimeError:
        if again == 0:
            raise
    return recorded(calls, found, again - 1)


def observe(calls: Sequence[Call]) -> list[Seen]:
    """For each call {"outputs": ..., "events": ...}, or {"refused": why}.

    Each runs once more before it is recorded, so that nothing happens for the first time then.
    """
    found = judge(calls)
    gc.disable()
    with torch.no_grad():
        accepted, events = recorded(calls, found)
    gc.enable()
    for (seen, _), of_call in zip(accepted, events, strict=True):
        seen["events"] = of_call
    return found
