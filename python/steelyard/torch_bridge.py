# SPDX-License-Identifier: Apache-2.0
"""From PyTorch's modules to programs: a module is copied without its weights, exported and read.

The copy has the structure of the module and, on the CPU, its very tensors: while it is traced
`torch.export` puts fake ones in their place, so none is read or changed. What lives on another
device is replaced by tensors on the meta device, which hold nothing.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import logging
import os
import random
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, TextIO

import torch
from torch.export import ExportedProgram
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from steelyard import _core
from steelyard.checkpoints import Checkpoints, leave_states_to_host
from steelyard.eager_view import EagerView
from steelyard.errors import ExportError, UsageError
from steelyard.lifetimes import Lifetimes
from steelyard.model_source import asks_for_data, hint_for, place_of, said_by

# How PyTorch begins to tell of sizes that it was told, which only the data have.
SETTLED = "propagate_real_tensors"

NESTS = (
    "nn.TransformerEncoder makes a nested tensor of a padded batch whose rows begin with what is "
    "no padding, which is weighed as the padded one (enable_nested_tensor)"
)

Twin = Callable[[torch.Tensor], torch.Tensor]


def takes(model: object) -> bool:
    """Whether this is a model of PyTorch's."""
    return isinstance(model, (torch.nn.Module, ExportedProgram))


def runs(model: object, as_: str | None) -> bool:
    """Whether a module is weighed as it runs."""
    return not isinstance(model, ExportedProgram) and as_ != "exported"


def program_of(
    model: torch.nn.Module | ExportedProgram,
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    mode: str = "exported",
    as_: str | None = None,
    train: _core.TrainOptions | None = None,
    hold_variables: bool = False,
    constants: dict[str, torch.Tensor] | None = None,
    device: str = "cpu",
) -> _core.Program:
    """Returns the program of a module, traced with these inputs, or of an exported one.

    The tensors that the module's code makes, which its state does not have, are added to
    `constants`. `device` is where it is to run.

    What the module checkpoints in a training step is added to what `train` has recomputed. With
    `hold_variables` the program holds tensors as long as the module's functions do.
    """
    if isinstance(model, ExportedProgram):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise UsageError("an ExportedProgram has been exported with its inputs", "args")
        if as_ == "module":
            raise UsageError("an ExportedProgram is weighed as it was exported", "as_")
        return _read(model, "ExportedProgram")
    _refuse_scripted(model)
    if args is None and kwargs is None:
        raise UsageError(
            "a module is exported with example inputs",
            "args",
            "Pass them as args=(input,) or kwargs={...}.",
        )
    with _TRACING:
        with _random_kept():
            exported, met = _traced_somehow(
                model, args, kwargs, dynamic_shapes, mode, as_, train, hold_variables
            )
        lifetimes = met.lifetimes if hold_variables else None
        if device != "cpu":
            leave_states_to_host(exported)
        # With sizes left open the data may be others.
        sizes = met.view.sizes if met.view is not None and dynamic_shapes is None else {}
        program = _read(exported, type(model).__name__, hold_variables, lifetimes, sizes)
        if constants is not None:
            constants.update(_own_tensors(exported))
    if lifetimes is not None and met.keeps_unweighed:
        program.add_note(
            f"{len(lifetimes.kept)} of its tensors are still held when the module has returned, by "
            "its attributes or hooks: what it holds from one call to the next is not weighed"
        )
    if met.view is not None and met.view.assumes:
        program.add_note(
            "branches that depend on sizes which only the data tell are taken as for the largest "
            "that these can be"
        )
    if met.instead:
        program.add_note(met.instead)
    if met.view is not None and met.view.functions:
        program.add_note(
            "autograd differentiates the forward pass of functions that have a backward pass of "
            f"their own: {', '.join(met.view.functions)}; what these save and compute instead "
            "may take more or less, and is not weighed"
        )
    if met.view is not None and met.view.nests:
        program.add_note(NESTS)
    if _trains(train):
        for note in _unseen_in_training(model, args, kwargs, met):
            program.add_note(note)
    if train is not None and met.checkpoints:
        for note in met.checkpoints.join(train):
            program.add_note(note)
    return program


def _unseen_in_training(
    model: torch.nn.Module, args: Any, kwargs: Mapping[str, Any] | None, met: _Met
) -> Iterator[str]:
    """What happens in a step that neither the graph nor the options tell of."""
    hooked = [
        name
        for name, parameter in model.named_parameters()
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None)
    ]
    if hooked:
        others = f" and {len(hooked) - 1} others" if len(hooked) > 1 else ""
        yield (
            f"hooks on gradients are not run, of {hooked[0]}{others}: what they allocate, and what "
            "they do instead of the optimizer, is not weighed"
        )
    if met.view is not None and met.view.hooks:
        yield (
            "hooks on the gradients of what it computes (register_hook, retain_grad) are not run: "
            "what they allocate and keep is not weighed"
        )
    tensors = pytree.tree_leaves((args, dict(kwargs or {})))
    inputs = [t for t in tensors if isinstance(t, torch.Tensor) and t.requires_grad]
    if inputs and met.lifetimes is None:
        yield (
            "inputs require gradients, which are weighed as if they did not: what is computed and "
            "kept for them comes on top"
        )
    elif not all(tensor.is_leaf for tensor in inputs):
        yield "what inputs were computed from is not differentiated: the backward pass ends at them"
    elif inputs:
        yield "gradients of inputs go with the step, as the inputs do where each step has its own"


# Tracing changes what PyTorch says of itself in the whole process.
_TRACING = threading.RLock()


@contextlib.contextmanager
def _random_kept() -> Iterator[None]:
    """What a module draws, or seeds, while it is traced is drawn by nobody."""
    python, numpy = random.getstate(), sys.modules.get("numpy")
    drawn = None if numpy is None else numpy.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python)
        if numpy is not None:
            numpy.random.set_state(drawn)


def _refuse_scripted(model: torch.nn.Module) -> None:
    for path, module in model.named_modules():
        if not isinstance(module, torch.jit.ScriptModule):
            continue
        name = type(model).__name__
        if not path:
            hint = "Pass the nn.Module that it was scripted or traced from."
            raise ExportError("a TorchScript module cannot be exported", name, hint)
        raise ExportError(
            f"its submodule {path} is a TorchScript module, which cannot be exported",
            name,
            "Put the nn.Module that it was scripted or traced from in its place: "
            f'model.set_submodule("{path}", module).',
        )


def _traced_somehow(
    model: torch.nn.Module,
    args: Any,
    kwargs: Any,
    dynamic_shapes: Any,
    mode: str,
    as_: str | None,
    train: _core.TrainOptions | None,
    again: bool,
) -> tuple[ExportedProgram, _Met]:
    """As it runs; where that cannot be traced, with sizes that only the data tell as large as they
    can be; where that cannot be either, and was not asked for, as torch.export does."""
    traced = _traced_as_called if again else _traced
    try:
        return traced(model, args, kwargs, dynamic_shapes, mode, as_ or "module", train)
    except ExportError as error:
        if as_ != "exported" and error.cause is not None and asks_for_data(error.cause):
            with contextlib.suppress(ExportError):
                return traced(
                    model, args, kwargs, dynamic_shapes, mode, "module", train, assumes=True
                )
        if as_ is not None:
            raise
        try:
            exported, met = _traced(model, args, kwargs, dynamic_shapes, mode, "exported", train)
        except ExportError:
            raise error from None
        met.instead = f"it is weighed as torch.export traces it: {error.message}"
        return exported, met


def _traced_as_called(
    model: torch.nn.Module,
    args: Any,
    kwargs: Any,
    dynamic_shapes: Any,
    mode: str,
    as_: str,
    train: _core.TrainOptions | None,
    assumes: bool = False,
) -> tuple[ExportedProgram, _Met]:
    """As it is called again and again, where it keeps tensors from one call to the next."""
    first = _traced(model, args, kwargs, dynamic_shapes, mode, as_, train, assumes=assumes)
    met = first[1]
    if met.lifetimes is None or not met.lifetimes.kept or (train is not None and train.first_step):
        return first
    met.keeps_unweighed = True
    if train is not None and train.accumulate > 1:
        return first
    with contextlib.suppress(ExportError):
        return _traced(
            model, args, kwargs, dynamic_shapes, mode, as_, train, rehearsed=True, assumes=assumes
        )
    return first


def _trains(train: _core.TrainOptions | None) -> bool:
    return train is not None and bool(train.optimizer)


@dataclasses.dataclass
class _Met:
    """What a module that is weighed as it runs does besides calling operators."""

    view: EagerView | None = None
    checkpoints: Checkpoints | None = None
    lifetimes: Lifetimes | None = None
    instead: str = ""  # why it is not weighed as it runs
    keeps_unweighed: bool = False  # what it holds from one call to the next


def _traced(
    model: torch.nn.Module,
    args: Any,
    kwargs: Any,
    dynamic_shapes: Any,
    mode: str,
    as_: str,
    train: _core.TrainOptions | None,
    rehearsed: bool = False,
    assumes: bool = False,
) -> tuple[ExportedProgram, _Met]:
    """The module exported without reading or changing anything of it: along the path that libraries
    take when they are traced, or, as "module", along the one that they take when they run. With
    what was met on the latter."""
    model = getattr(model, "_orig_mod", model)  # what torch.compile was given
    on_cpu = all(tensor.device.type == "cpu" for tensor in _tensors_of(model))
    device = "cpu" if on_cpu else "meta"
    twin = _twins_on(device)
    untraced = _uncompiled(copy_untouched(model, twin))
    if mode != "exported":
        untraced.train(mode == "train")
    positional = args if isinstance(args, (tuple, list)) else () if args is None else (args,)
    examples = pytree.tree_map_only(torch.Tensor, twin, (tuple(positional), dict(kwargs or {})))
    try:
        with contextlib.ExitStack() as traced:
            traced.enter_context(_said_once())
            if as_ == "module":  # where it is weighed what the module keeps
                traced.enter_context(warnings.catch_warnings())
                warnings.filterwarnings("ignore", "The tensor attribute")
            if not on_cpu:
                traced.enter_context(torch.device(device))
            met = _Met()
            if as_ == "module":
                met.lifetimes = traced.enter_context(Lifetimes())
                found = met.lifetimes
                view = EagerView(untraced, examples, found.returned, found.require, assumes)
                if rehearsed:
                    view.before = found.rehearse
                met.view = traced.enter_context(view)
                traced.enter_context(torch.set_grad_enabled(_trains(train)))
                met.checkpoints = traced.enter_context(Checkpoints(found))
            exported = torch.export.export(
                untraced, *examples, dynamic_shapes=dynamic_shapes, strict=False
            )
        if met.checkpoints:
            met.checkpoints.mark(exported)
        return exported, met
    except Exception as error:
        raise ExportError(
            f"PyTorch cannot export it: {said_by(error)}",
            place_of(error) or type(model).__name__,
            hint_for(error),
            error,
        ) from None


@contextlib.contextmanager
def _said_once() -> Iterator[None]:
    """While it is active, what PyTorch logs and writes to standard error waits: where it fails, its
    exception says it, too, and else it is shown afterwards. What others write, as the module's own
    code, is shown at once."""
    held: list[tuple[logging.Handler, logging.LogRecord]] = []
    here = threading.get_ident()
    filters = []
    for handler in _handlers_of_torch():

        def waits(record: logging.LogRecord, handler: logging.Handler = handler) -> bool:
            if record.thread != here:
                return True
            held.append((handler, record))
            return False

        handler.addFilter(waits)
        filters.append((handler, waits))
    written = _WithoutTorch(sys.stderr)
    try:
        with contextlib.redirect_stderr(written):  # type: ignore[type-var, unused-ignore]
            yield
    finally:
        for handler, waits in filters:
            handler.removeFilter(waits)
    for handler, record in held:
        if not str(record.msg).startswith(SETTLED):
            handler.handle(record)
    sys.stderr.write("".join(written.held))


def _handlers_of_torch() -> list[logging.Handler]:
    loggers = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict)]
    of_torch = [logger for logger in loggers if logger.name.partition(".")[0] == "torch"]
    return list(dict.fromkeys(handler for logger in of_torch for handler in logger.handlers))


class _WithoutTorch:
    """A stream but for what PyTorch writes to it, which is held."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.held: list[str] = []

    def write(self, text: str) -> int:
        writer: FrameType | None = sys._getframe(1)
        while writer and _package_of(writer) in sys.stdlib_module_names:
            writer = writer.f_back  # `warnings` and `logging` write for others
        if writer is None or _package_of(writer) != "torch":
            return self._stream.write(text)
        self.held.append(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def copy_untouched(model: torch.nn.Module, twin: Twin) -> torch.nn.Module:
    """Returns a module of the same structure whose tensors are the twins of the model's."""
    memo = {id(tensor): _as_kept(tensor, twin(tensor)) for tensor in _tensors_of(model)}
    try:
        with _SharedTensors(twin):
            return copy.deepcopy(model, memo)
    except Exception as error:
        raise ExportError(
            f"it cannot be copied to be traced: {said_by(error)}",
            type(model).__name__,
            "Export it yourself, and pass what torch.export.export(model, args) returns.",
            error,
        ) from None


def _uncompiled(copied: torch.nn.Module) -> torch.nn.Module:
    """The copy with what torch.compile was given in the place of what it made."""
    for module in list(copied.modules()):
        if module.__dict__.get("_compiled_call_impl") is not None:
            module._compiled_call_impl = None
        for name, child in list(module.named_children()):
            if "_orig_mod" in child._modules:
                module._modules[name] = child._orig_mod
    return copied


def _tensors_of(model: torch.nn.Module) -> Iterator[torch.Tensor]:
    yield from model.parameters()
    yield from model.buffers()


def _twins_on(device: str) -> Twin:
    """Gives tensors of other devices twins that hold nothing; the same one for the same one."""
    # Keeps what it was asked for, so that no other tensor gets the same id meanwhile.
    made: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def twin(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type == device:
            return tensor
        if id(tensor) not in made:
            # Memory that nobody writes to costs nothing on the CPU either.
            empty = torch.empty_strided(
                tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device
            )
            made[id(tensor)] = (tensor, empty)
        return made[id(tensor)][1]

    return twin


def _as_kept(tensor: torch.Tensor, twin: torch.Tensor) -> torch.Tensor:
    if twin is tensor or not isinstance(tensor, torch.nn.Parameter):
        return twin
    return torch.nn.Parameter(twin, requires_grad=tensor.requires_grad)


class _SharedTensors(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """While it is active, a deep copy has the twins of tensors and copies none."""

    def __init__(self, twin: Twin) -> None:
        super().__init__()
        self._twin = twin

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.__deepcopy__:
            return self._twin(args[0])
        return func(*args, **(kwargs or {}))


def _read(
    exported: ExportedProgram,
    name: str,
    as_module: bool = False,
    lifetimes: Lifetimes | None = None,
    sizes: Mapping[str, int] | None = None,
) -> _core.Program:
    """Reads an exported program by way of a file without weights."""
    told = () if lifetimes is None else lifetimes.told(exported)
    facts = _core.ModuleFacts(_places_of(exported), *told)
    facts.sizes = sizes or {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{name}.pt2")  # noqa: PTH118
        torch.export.save(_without_weights(exported), path)
        return _core.import_file(path, as_module=as_module, module=facts)


def _own_tensors(exported: ExportedProgram) -> dict[str, torch.Tensor]:
    """Those of its constants that hold something."""
    return {
        name: tensor
        for name, tensor in exported._constants.items()
        if type(tensor) is torch.Tensor and tensor.device.type != "meta"
    }


def _places_of(exported: ExportedProgram) -> dict[str, str]:
    """Where parameters and buffers lie, by their names."""
    tensors = {**exported._state_dict, **exported._constants}
    return {
        name: f"{tensor.untyped_storage()._cdata} {tensor.storage_offset()}"
        for name, tensor in tensors.items()
        if isinstance(tensor, torch.Tensor)
    }


def _without_weights(exported: ExportedProgram) -> ExportedProgram:
    """The same program with tensors that hold nothing, which share storages as before."""
    storages: dict[int, torch.UntypedStorage] = {}

    def emptied(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type == "meta":
            return tensor
        stored = tensor.untyped_storage()
        if stored._cdata not in storages:
            storages[stored._cdata] = torch.UntypedStorage(stored.nbytes(), device="meta")
        empty = torch.empty(0, dtype=tensor.dtype, device="meta")
        empty.set_(storages[stored._cdata], tensor.storage_offset(), tensor.size(), tensor.stride())
        return _as_kept(tensor, empty)

    light = copy.copy(exported)
    for field in ("_state_dict", "_constants"):
        kept = getattr(exported, field)
        light.__dict__[field] = {
            name: emptied(value) if isinstance(value, torch.Tensor) else value
            for name, value in kept.items()
        }
    light._example_inputs = None
    # In which containers inputs and outputs come is not asked, and some cannot be written.
    root = exported.module_call_graph[0]
    if root.signature is not None:
        inputs, outputs = root.signature.in_spec.num_leaves, root.signature.out_spec.num_leaves
        flat = dataclasses.replace(
            root.signature,
            in_spec=pytree.tree_structure((tuple(range(inputs)), {})),
            out_spec=pytree.tree_structure(tuple(range(outputs))),
        )
        light._module_call_graph = [dataclasses.replace(root, signature=flat)]
    return light
