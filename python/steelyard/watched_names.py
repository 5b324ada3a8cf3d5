# SPDX-License-Identifier: Apache-2.0
"""What modules, tensors and optimizers of a watched program are called in its record."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from steelyard import _core, parallel_sizes

if TYPE_CHECKING:
    import torch

    from steelyard.plain_observer import PlainObserver


MOST_SAID = 200  # letters of an exception, in a remark
# Of modules that are in several places: more are told where they were found first.
MOST_PLACES = 1000
# What models are given besides tensors, and what holds none.
PLAIN_VALUES = (type(None), bool, int, float, str)


class Names:
    """What modules, tensors and optimizers are called in the record."""

    def __init__(self, observer: _core.Observer | PlainObserver) -> None:
        import torch
        from torch.utils import _pytree as pytree

        self._observer = observer
        self._plain = (torch.Tensor, torch.nn.Parameter)  # what has no parts elsewhere
        self._strided, self._leaves = torch.strided, pytree.tree_leaves
        self._modules: dict[int, tuple[int, Any]] = {}  # by address: the id, and a weak reference
        self._optimizers: dict[int, tuple[int, int]] = {}  # by address: the id, tensors of state
        self._told: set[tuple[int, int, int]] = set()  # parameters and buffers that have a name
        self._numbers: dict[int, int] = {}  # of parameters, by the addresses of the tensors
        self._sharded: dict[int, Any] = {}  # by number: weak references to DTensors
        self._passing: dict[str, tuple[int, Any]] = {}  # by class: the id and the last of them
        self._module_count = self._tensor_count = 0
        self._devices: set[str] = set()
        # Parameters and buffers by number: the module, what it calls them, and where they lie.
        self._held: dict[int, tuple[Any, str, int]] = {}
        self._steps = 0  # of optimizers
        self._late: list[tuple[str, Any, int]] = []  # parameters that have no sizes yet
        self._failed = False
        # Steps of optimizers that have not ended, and who runs them.
        self.open_steps: list[tuple[int, FrameType]] = []

    def close_left(self) -> None:
        """A step that ended with an exception tells nobody."""
        while self.open_steps and not _runs(self.open_steps[-1][1]):
            self._observer.leave_optimizer(self.open_steps.pop()[0])

    @contextlib.contextmanager
    def harmless(self) -> Iterator[None]:
        """What goes wrong in watching is none of the program's business: the record says so."""
        try:
            yield
        except Exception as error:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        if self._failed or not self._observer.running():
            return
        self._failed = True
        said = " ".join(f"{type(error).__name__}: {error}".split())[:MOST_SAID]
        self._observer.remark(f"some of what ran could not be asked about ({said})")

    def forget(self) -> None:
        self._modules.clear()
        self._optimizers.clear()
        self._told.clear()
        self._numbers.clear()
        self._held.clear()
        self._sharded.clear()
        self._passing.clear()
        self._module_count = self._tensor_count = 0
        self._devices.clear()
        self._late.clear()
        self.open_steps.clear()
        self._failed = False

    def modules(self) -> list[torch.nn.Module]:
        """All that there still are."""
        modules = [reference() for _, reference in self._modules.values()]
        return [module for module in modules if module is not None]

    def tell_sizes(self) -> None:
        """Says how processes share the model. A program may end their group before it ends."""
        with self.harmless():
            for key, value in parallel_sizes.of(self.modules()).items():
                self._observer.fact(key, value)

    def knows(self, module: torch.nn.Module) -> bool:
        return id(module) in self._modules

    def add_model(self, model: torch.nn.Module) -> None:
        if self._stands_for_another(model):
            return
        ids: dict[str, int] = {}
        for path, module in _named_modules(model):
            known = self._modules.get(id(module))
            ids[path] = self._add_module(module, path, ids) if known is None else known[0]
        with self.harmless():
            self._add_places(model, ids)
        self.tell_sizes()

    def _add_places(self, model: torch.nn.Module, ids: dict[str, int]) -> None:
        """Says where else modules are that several others have."""
        left = MOST_PLACES
        for path, module in _named_modules(model):
            for name, child in module._modules.items():
                below = f"{path}.{name}" if path else name
                if child is None or below in ids:
                    continue
                waiting = [(below, child, ids[path], frozenset((id(module),)))]
                while waiting and left > 0:
                    place, of, parent, around = waiting.pop()
                    known = self._modules.get(id(of))
                    if known is None or id(of) in around:
                        continue
                    left -= 1
                    number = self._module_count
                    self._module_count += 1
                    self._observer.add_place(number, parent, known[0], place, type(of).__name__)
                    waiting += [
                        (f"{place}.{key}", inner, number, around | {id(of)})
                        for key, inner in of._modules.items()
                        if inner is not None
                    ]

    def _stands_for_another(self, model: torch.nn.Module) -> bool:
        """Losses and the like that a program makes anew for each call, and that hold nothing, are
        told as one."""
        if _holds_any(model):
            return False
        name = type(model).__name__
        known = self._passing.get(name)
        if known is None or known[1]() is not None:
            self._passing[name] = (self._module_count, weakref.ref(model))
            return False
        self._passing[name] = (known[0], weakref.ref(model))
        self._observer.alias_module(id(model), known[0])
        self._modules[id(model)] = (known[0], weakref.ref(model, self._forgetter(id(model))))
        return True

    def _add_module(self, module: torch.nn.Module, path: str, ids: dict[str, int]) -> int:
        number, address = self._module_count, id(module)
        self._module_count += 1
        parent = ids.get(path.rpartition(".")[0]) if path else None
        self._observer.add_module(
            address, number, parent, module.training, path, type(module).__name__
        )
        self._modules[address] = (number, weakref.ref(module, self._forgetter(address)))
        prefix = f"{path}." if path else ""
        category = _core.Category
        with self.harmless():
            for name, parameter in module.named_parameters(recurse=False):
                if _is_lazy(parameter):
                    self._late.append((prefix + name, weakref.ref(parameter), number))
                else:
                    self._add_tensor(prefix + name, parameter, number, category.PARAMETERS)
                    self._hold(module, name, parameter)
            for name, buffer in module.named_buffers(recurse=False):
                if not _is_lazy(buffer):
                    self._add_tensor(prefix + name, buffer, number, category.BUFFERS)
                    self._hold(module, name, buffer)
        return number

    def _hold(self, module: torch.nn.Module, name: str, tensor: torch.Tensor) -> None:
        place = self._place_of(local_part(tensor))
        if place is not None:
            self._held[self._tensor_count - 1] = (weakref.ref(module), name, place[1])

    def mark_replaced(self) -> None:
        """Says of parameters and buffers that lie elsewhere now where that is."""
        category = _core.Category
        for number, (reference, name, address) in list(self._held.items()):
            module = reference()
            if module is None:
                continue
            is_parameter = name in module._parameters
            tensor = (module._parameters if is_parameter else module._buffers).get(name)
            place = None if tensor is None else self._place_of(local_part(tensor))
            if place is not None and place[1] != address:
                kind = category.PARAMETERS if is_parameter else category.BUFFERS
                self._observer.mark(*place, kind, number)
                self._held[number] = (reference, name, place[1])

    def name_late(self) -> None:
        """Parameters that a first call has made what they are."""
        late, self._late = self._late, []
        for name, reference, module in late:
            parameter = reference()
            if parameter is None:
                continue
            if _is_lazy(parameter):
                self._late.append((name, reference, module))
            else:
                self._add_tensor(name, parameter, module, _core.Category.PARAMETERS)

    def _forgetter(self, address: int) -> Callable[[Any], None]:
        def forget(_: Any) -> None:
            if self._modules.pop(address, None) is not None:
                self._observer.forget_module(address)

        return forget

    def _add_tensor(
        self, name: str, tensor: torch.Tensor, module: int, category: _core.Category
    ) -> None:
        held, elements = local_part(tensor), element_count(tensor)
        place = self._place_of(held)
        # Parameters may lie side by side in one storage, as DeepSpeed keeps them.
        where = None if place is None else (place[0], held.storage_offset(), held.numel())
        number = self._tensor_count
        self._tensor_count += 1
        self._numbers[tensor._cdata] = number
        if held is not tensor:
            self._sharded[number] = weakref.ref(tensor)
        self._observer.add_tensor(
            number,
            module,
            elements,
            elements * tensor.element_size(),
            tensor._cdata,
            # What has a second name counts once.
            category if where not in self._told else _core.Category.TEMPORARIES,
            name,
            str(tensor.dtype).removeprefix("torch."),
        )
        if place is not None and where is not None:
            self._told.add(where)
            self._observer.mark(*place, category, number)
        gradient = tensor.grad if tensor.is_leaf else None
        if gradient is not None:
            self.mark(gradient, _core.Category.GRADIENTS, number)

    def mark_all(self, values: Iterable[Any], category: _core.Category) -> None:
        """Of what a model is given or gives: tensors as such, which most are, and inside others."""
        for value in values:
            if type(value) in self._plain:
                self.mark(value, category)
            elif type(value) not in PLAIN_VALUES:
                for leaf in self._leaves(value):
                    self.mark(leaf, category)

    def mark(self, tensor: Any, category: _core.Category, number: int | None = None) -> None:
        place = self._place_of(tensor)
        if place is not None:
            self._observer.mark(*place, category, number)

    def _place_of(self, tensor: Any) -> tuple[int, int, int, int] | None:
        """The storage, where it begins, its bytes and in whose memory: 0, the host's, or one more
        than the number of a CUDA device. Nothing of what has none in these."""
        if type(tensor) not in self._plain:
            if not isinstance(tensor, self._plain[0]):
                return None
            tensor = local_part(tensor)
        if tensor.layout is not self._strided:
            return None
        # Asked of each batch: what a device is called takes longer than whether it is the CPU.
        memory = 0 if tensor.is_cpu else self._memory_of(tensor.device)
        if memory is None:
            return None
        try:
            storage = tensor.untyped_storage()
            return storage._cdata, storage.data_ptr(), storage.nbytes(), memory
        except Exception:  # a subclass without a storage of its own, of whatever kind
            return None

    def _memory_of(self, device: torch.device) -> int | None:
        if device.type == "cuda":
            return 1 + (device.index or 0)
        self._note_device(device.type)
        return None

    def _note_device(self, device: str) -> None:
        if device not in self._devices and device != "meta":
            self._devices.add(device)
            self._observer.remark(f"memory of {device} is not watched, only the CPU's and CUDA's")

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> int:
        known = self._optimizers.get(id(optimizer))
        if known is not None:
            return known[0]
        number = len(self._optimizers)
        self._observer.add_optimizer(number, type(optimizer).__name__)
        self._optimizers[id(optimizer)] = (number, 0)
        self._add_models_of(optimizer)
        self.mark_state(optimizer)
        self.tell_sizes()
        return number

    def _add_models_of(self, optimizer: torch.optim.Optimizer) -> None:
        """Those that are compiled in place, of whose calls nobody hears."""
        if "torch._dynamo" not in sys.modules:
            return
        trained = [p for group in optimizer.param_groups for p in group["params"]]
        unnamed = {id(p) for p in trained if p._cdata not in self._numbers}
        if not unnamed:
            return
        for model in _compiled_in_place():
            if not self.knows(model) and any(id(p) in unnamed for p in model.parameters()):
                self.add_model(model)

    def mark_state(self, optimizer: torch.optim.Optimizer) -> None:
        """Says what the optimizer's state is, as far as there is more of it than before."""
        # Seldom: all parameters are looked at, of models that may be gone when the session ends.
        self._steps += 1
        if self._steps & (self._steps - 1) == 0:
            self.mark_replaced()
        number, before = self._optimizers[id(optimizer)]
        state = optimizer.state
        count = len(state) * (1 + len(next(iter(state.values())))) if state else 0
        if count == before:
            return
        self._optimizers[id(optimizer)] = (number, count)
        for parameter, of_parameter in state.items():
            named = self._numbers.get(getattr(parameter, "_cdata", 0))
            for value in of_parameter.values():
                self.mark(value, _core.Category.OPTIMIZER_STATE, named)

    def mark_shards(self) -> None:
        """Gradients that are kept in parts: autograd, which tells of others, adds to none."""
        for number, reference in self._sharded.items():
            parameter = reference()
            if parameter is not None and parameter.grad is not None:
                self.mark(parameter.grad, _core.Category.GRADIENTS, number)


def local_part(tensor: torch.Tensor) -> torch.Tensor:
    """What this rank holds of a DTensor, and of a parameter that DeepSpeed keeps in parts (ZeRO-3);
    any other tensor itself."""
    part = getattr(tensor, "_local_tensor", None)
    if part is None:
        part = getattr(tensor, "ds_tensor", None)
    return tensor if part is None else part


def element_count(tensor: torch.Tensor) -> int:
    """Of the whole, where DeepSpeed keeps it in parts."""
    return int(getattr(tensor, "ds_numel", tensor.numel()))


def _compiled_in_place() -> list[torch.nn.Module]:
    """What is around others comes first."""
    import torch

    things = (thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module))
    models = [each for each in things if each.__dict__.get("_compiled_call_impl") is not None]
    return sorted(models, key=lambda model: -len(_named_modules(model)))


def _named_modules(model: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    try:
        return list(model.named_modules())
    except Exception:  # a module that no set can have, as one that only compares
        return [("", model)]


def _holds_any(model: torch.nn.Module) -> bool:
    try:
        holds = (model.children(), model.parameters(), model.buffers())
        return any(next(held, None) is not None for held in holds)
    except Exception:  # nobody may ask
        return True


def _is_lazy(tensor: Any) -> bool:
    """Whether its first call gives it its sizes."""
    from torch.nn.parameter import is_lazy

    return bool(is_lazy(tensor))


def _runs(frame: FrameType) -> bool:
    """Whether it is one of those that have called this."""
    running: FrameType | None = sys._getframe(1)
    while running is not None:
        if running is frame:
            return True
        running = running.f_back
    return False
