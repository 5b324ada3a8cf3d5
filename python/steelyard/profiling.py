# SPDX-License-Identifier: Apache-2.0
"""Running a model in PyTorch, kernel by kernel as it is weighed, and timing it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard import _core
from steelyard.errors import UnsupportedError, UsageError
from steelyard.model_analysis import TrainingStep
from steelyard.options import cast_overrides, weigh_options
from steelyard.type_hints import current_type_hints

if TYPE_CHECKING:
    import torch


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
    a step of `append_loss_n_optimizer` runs whole. The engine, which runs it, is built
    for the installed PyTorch when there is none yet.
    """
    options = _options(warmup, number, repeat)
    options.leave_peak_out = True
    return _core.milliseconds(*_prepared(model, device, args, options))


def compare_precisions(
    model: torch.nn.Module | TrainingStep,
    device: str = "cpu",
    args: Sequence[Any] | None = None,
    precisions: tuple[str, str] = ("fp32", "bf16"),
    warmup: int = 5,
    number: int = 0,
    repeat: int = 10,
) -> dict[str, Any]:
    """Returns what a run takes in two precisions that run in turns, as `steelyard run --compare`.

    `["ratios"]["step"]` (of a model alone `["forward"]`) has the `median` of the ratios of the
    second's time to the first's, and its interval: `lowest`, `highest`, `confidence`. `["runs"]`
    has the report of each: times, memory, kernels. "fp32" is the model as it is, "bf16" and "fp16"
    under autocast. A `number` of 0: as many runs to a mean as a second holds, at most 10.
    """
    options = _options(warmup, number, repeat)
    options.compare = list(precisions)
    prepared = _prepared(model, device, args, options)
    options.weigh.amp.casts = cast_overrides(current_type_hints())
    report: dict[str, Any] = json.loads(_core.compared_runs(*prepared, "json"))
    return report


def _options(warmup: int, number: int, repeat: int) -> _core.RunOptions:
    import torch

    from steelyard import engine_library

    options = _core.RunOptions()
    options.engine = engine_library.path()
    options.threads = torch.get_num_threads()
    options.warmup, options.number, options.repeat = warmup, number, repeat
    return options


def _is_cuda(device: object) -> bool:
    """Whether it is PyTorch's current CUDA device; refuses what the engine does not run on."""
    import torch

    kind, _, index = str(device).partition(":")
    if kind not in ("cpu", "cuda"):
        raise UnsupportedError(
            f'the engine does not run on the device "{device}"', "device", 'Pass "cpu" or "cuda".'
        )
    if kind == "cuda" and index and index != str(torch.cuda.current_device()):
        raise UsageError(
            f"the current CUDA device is cuda:{torch.cuda.current_device()}",
            f'device="{device}"',
            f"Call torch.cuda.set_device({index}) before.",
        )
    return kind == "cuda"


class _Held(list["_core.HeldTensor"]):
    """Tensors by address, with those that own the memory."""

    def __init__(self, tensors: dict[str, torch.Tensor]) -> None:
        self.rows = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        super().__init__(_held(name, tensor) for name, tensor in self.rows.items())


def _prepared(
    model: torch.nn.Module | TrainingStep,
    device: str,
    args: Sequence[Any] | None,
    options: _core.RunOptions,
) -> tuple[_core.Program, _core.RunOptions, _Held, _Held]:
    """A module's program, and its tensors and inputs with their elements row by row."""
    import torch

    from steelyard import torch_bridge

    options.device_at_hand = _is_cuda(device)
    step = model if isinstance(model, TrainingStep) else None
    module = step.model if step else model
    examples = tuple(step.args if step and args is None else args or ())
    if not isinstance(module, torch.nn.Module):
        raise UsageError("only an nn.Module is run from Python", "model", "Try `steelyard run`.")
    weigh = weigh_options(_keywords(step))
    train = weigh.train
    constants: dict[str, torch.Tensor] = {}
    program = torch_bridge.program_of(module, examples, train=train, constants=constants)
    weigh.train, weigh.path = train, type(module).__name__
    options.weigh = weigh
    given = [t for t in torch.utils._pytree.tree_leaves(examples) if isinstance(t, torch.Tensor)]
    named = dict(zip(_core.input_names(program), given, strict=False))
    tensors = constants | dict(module.state_dict(keep_vars=True)) | dict(module.named_buffers())
    return program, options, _Held(tensors), _Held(named)


def _keywords(step: TrainingStep | None) -> Any:
    if step is None:
        return {}
    return {"train": step.optimizer, "loss": step.loss, "optim_args": step.options}


def _held(name: str, tensor: torch.Tensor) -> _core.HeldTensor:
    dtype = _core.dtype_named(str(tensor.dtype).removeprefix("torch."))
    if dtype is None:
        raise UnsupportedError(f"{name} is of {tensor.dtype}, which is not known", "model")
    return _core.HeldTensor(name, dtype, list(tensor.shape), tensor.data_ptr())
