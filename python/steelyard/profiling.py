# SPDX-License-Identifier: Apache-2.0
"""Running a model in PyTorch, kernel by kernel as it is weighed, and timing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard import _core
from steelyard.errors import UnsupportedError, UsageError
from steelyard.model_analysis import TrainingStep
from steelyard.options import weigh_options

if TYPE_CHECKING:
    import torch

# The engine's library, where it does not lie beside the package.
ENGINE = "STEELYARD_ENGINE"


def profile_model(
    model: torch.nn.Module | TrainingStep,
    device: str = "cpu",
    args: Sequence[Any] | None = None,
    warmup: int = 5,
    number: int = 10,
    repeat: int = 10,
) -> list[float]:
    """Returns how many milliseconds a run takes: `repeat` means of `number` runs each.

    Runs on the module's own tensors, which stay as they are, with as many threads as PyTorch has;
    a step of `append_loss_n_optimizer` runs whole. Needs the engine (`make engine`), beside the
    package or where STEELYARD_ENGINE says.
    """
    import torch

    from steelyard import torch_bridge

    if str(device) != "cpu":
        raise UnsupportedError(
            f'the device "{device}" is not known yet', "device", 'Pass "cpu": the only one so far.'
        )
    step = model if isinstance(model, TrainingStep) else None
    module = step.model if step else model
    examples = tuple(step.args if step and args is None else args or ())
    if not isinstance(module, torch.nn.Module):
        raise UsageError("only an nn.Module is run from Python", "model", "Try `steelyard run`.")
    program = torch_bridge.program_of(module, examples)
    options = _core.RunOptions()
    options.weigh = weigh_options(_keywords(step))
    options.weigh.path = type(module).__name__
    options.engine = os.environ.get(ENGINE, "")
    options.threads = torch.get_num_threads()
    options.warmup, options.number, options.repeat = warmup, number, repeat
    given = [t for t in torch.utils._pytree.tree_leaves(examples) if isinstance(t, torch.Tensor)]
    named = dict(zip(_core.input_names(program), given, strict=False))
    tensors = dict(module.state_dict(keep_vars=True)) | dict(module.named_buffers())
    # What is held here lives until the run has ended.
    held = [_rows(table) for table in (tensors, named)]
    return _core.milliseconds(
        program, options, *([_held(n, t) for n, t in h.items()] for h in held)
    )


def _keywords(step: TrainingStep | None) -> Any:
    if step is None:
        return {}
    return {"train": step.optimizer, "loss": step.loss, "optim_args": step.options}


def _rows(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same tensors with their elements row by row."""
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


def _held(name: str, tensor: torch.Tensor) -> _core.HeldTensor:
    dtype = _core.dtype_named(str(tensor.dtype).removeprefix("torch."))
    return _core.HeldTensor(name, dtype, list(tensor.shape), tensor.data_ptr())
