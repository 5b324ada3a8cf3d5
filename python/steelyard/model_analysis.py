# SPDX-License-Identifier: Apache-2.0
"""The calls of RAF's "Analyze Your Model", by their names and meanings, for every kind of model.

Megabytes are 2^20 bytes. Memory is that of a compiled program (`runtime="graph"`), as RAF's is;
with `runtime="eager"` it is what PyTorch holds. Whole models and steps are weighed by
`steelyard.weigh`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard import _core
from steelyard.errors import UsageError
from steelyard.weighing import Weighing, load, weigh

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch

    from steelyard.weighing import Model

    Device: TypeAlias = str | torch.device

MEBIBYTE = 2**20
LEARN = re.compile("float|complex")  # dtypes of what can be learned
OPTIMIZERS: dict[str, dict[str, object]] = {"sgd": {"momentum": 0.01}, "lans": {}}


class TrainingStep(NamedTuple):
    """A model with a loss and an optimizer, as `append_loss_n_optimizer` makes it."""

    model: Any
    args: tuple[Any, ...]
    loss: str
    optimizer: str
    options: Mapping[str, object]


def get_param_size(model: Model | TrainingStep, mbs: bool = False) -> float:
    """Returns how many numbers a model learns or, with `mbs`, the megabytes that they take.

    Tied parameters count once, frozen ones of a live module not at all.
    """
    if isinstance(model, TrainingStep):
        return get_param_size(model.model, mbs)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        learned = [p for p in model.parameters() if p.requires_grad]
        count = sum(p.numel() for p in learned)
        size = sum(p.numel() * p.element_size() for p in learned)
    elif isinstance(model, (str, bytes, os.PathLike, _core.Program)):
        program = model if isinstance(model, _core.Program) else load(model)
        count, size = program.learned_size()
    else:
        by_dtype = weigh(model).data["parameters"]["by_dtype"]
        learn = [held for dtype, held in by_dtype.items() if LEARN.search(dtype)]
        count = sum(held["count"] for held in learn)
        size = sum(held["bytes"] for held in learn)
    return size / MEBIBYTE if mbs else float(count)


def trace_memory(
    model: Model | TrainingStep,
    device: Device = "cpu",
    args: Any = None,
    include_param: bool = True,
    *,
    runtime: str = "graph",
    progress: Any = False,
) -> list[tuple[str, float]]:
    """Returns what is held at each kernel, in the order in which they run: names and megabytes."""
    weighing = _weigh(model, device, args, runtime=runtime, progress=progress)
    if runtime == "eager":
        return _eager_trace(weighing, include_param)
    table = weighing.to_dicts("kernels")
    resident = 0 if include_param else weighing.data["memory"]["resident"] / MEBIBYTE
    return [(row["kernel"], row["megabytes"] - resident) for row in table]


def get_peak_memory(
    model: Model | TrainingStep,
    device: Device = "cpu",
    args: Any = None,
    include_param: bool = True,
    *,
    runtime: str = "graph",
    progress: Any = False,
) -> float:
    """Returns the most that is held at any moment, in megabytes."""
    memory = _weigh(model, device, args, runtime=runtime, progress=progress).data["memory"]
    resident = 0.0 if include_param else memory["resident"] / MEBIBYTE
    peak = memory["peak"] / MEBIBYTE if runtime == "eager" else memory["graph"]["peak_megabytes"]
    return float(peak) - resident


def calc_model_gflops(
    model: Model | TrainingStep, device: Device = "cpu", args: Any = None
) -> float:
    """Returns the work of a model in 10^9 operations, counted as RAF counts it."""
    weighing = _weigh(model, device, args, runtime="graph", count="raf")
    return float(weighing.data["convention"]["printed_gflops"])


def append_loss_n_optimizer(
    model: Model,
    args: Any = None,
    out_shape: Sequence[int] | None = None,
    y_true: Any = None,
    optimizer: str = "sgd",
) -> TrainingStep:
    """Returns the training step of a model that gives scores: log_softmax, nll_loss, an optimizer.

    `out_shape` and `y_true` say in RAF how scores and labels lie; here the scores say it.
    """
    del out_shape, y_true
    if optimizer not in OPTIMIZERS:
        known = ", ".join(OPTIMIZERS)
        raise UsageError(
            f'there is no "{optimizer}" here',
            "optimizer",
            f"There are: {known}; steelyard.weigh(model, train=...) takes all others.",
        )
    return TrainingStep(
        model, _several(args) or (), "cross-entropy", optimizer, OPTIMIZERS[optimizer]
    )


def _weigh(model: Model | TrainingStep, device: Device, args: Any, **keywords: Any) -> Weighing:
    keywords = {"device": device, **keywords}
    given = _several(args)
    if not isinstance(model, TrainingStep):
        return weigh(model, given, **keywords)
    step = model
    examples = step.args if given is None else _inputs_of_step(step, given)
    return weigh(
        step.model,
        examples or None,
        train=step.optimizer,
        loss=step.loss,
        optim_args=step.options,
        **keywords,
    )


def _several(args: Any) -> tuple[Any, ...] | None:
    """The inputs; a tensor alone is one of them."""
    if args is None:
        return None
    return tuple(args) if isinstance(args, (list, tuple)) else (args,)


def _inputs_of_step(step: TrainingStep, args: Sequence[Any]) -> tuple[Any, ...]:
    """A step of RAF's takes the gradient of the loss, the model's inputs and the labels."""
    if len(args) == len(step.args) + 2:
        return tuple(args[1:-1])
    raise UsageError(
        f"a step of {len(step.args)} inputs takes {len(step.args) + 2} arguments, the gradient of "
        f"the loss, the inputs and the labels; here are {len(args)}",
        "args",
        "Without arguments it takes the inputs it was made with.",
    )


def _eager_trace(weighing: Weighing, include_param: bool) -> list[tuple[str, float]]:
    held = weighing.data["memory"]["resident"] if include_param else 0
    trace = []
    for name, size, *_ in weighing.events:
        held += size
        trace.append((name, held / MEBIBYTE))
    return trace
