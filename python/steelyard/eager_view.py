# SPDX-License-Identifier: Apache-2.0
"""Tracing a module along the path that it takes when it runs.

Libraries ask whether they are traced, and then take a path that suits tracing: transformers writes
out an attention mask where its models, when they run, pass none. While an `EagerView` is active
such questions are answered as for plain tensors: nothing is compiled or exported, no tensor is a
fake one, and what masks and positions hold is known, as far as it follows from constants and from
the example inputs that are integers or booleans. Nor do layers that run as one operator where
nothing is traced (torch.backends.mha) write out what they are made of.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import math
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch._export import utils as export
from torch._higher_order_ops import utils as operators
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.autograd.graph import saved_tensors_hooks
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, is_symbolic
from torch.overrides import TorchFunctionMode, _pop_mode, _push_mode
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary

# Of what tensors with more elements hold nothing is known: to find it out takes as long as running.
MOST_ELEMENTS = 1 << 22
# How code asks what a tensor holds.
QUESTIONS = frozenset(
    {
        torch.Tensor.__bool__,
        torch.Tensor.__int__,
        torch.Tensor.__index__,
        torch.Tensor.__float__,
        torch.Tensor.item,
        torch.Tensor.tolist,
        torch.Tensor.__contains__,
        torch.Tensor.__format__,
        torch.Tensor.is_nonzero,
        torch.Tensor.equal,
        torch.Tensor.allclose,
        torch.is_nonzero,
        torch.equal,
        torch.allclose,
    }
)
# How code has a tensor require a gradient, which is none of its operators.
REQUIRING = frozenset({torch.Tensor.requires_grad_, torch.Tensor.requires_grad.__set__})
# How code gets to see gradients while they are computed.
HOOKING = frozenset({torch.Tensor.register_hook, torch.Tensor.retain_grad})
# How nn.TransformerEncoder makes a nested tensor of a padded batch, and a padded one of that.
NESTING = frozenset(
    {
        torch._nested_tensor_from_mask_left_aligned,
        torch._nested_tensor_from_mask,
        torch.Tensor.to_padded_tensor,
    }
)
# How code goes over the rows of a tensor, each in its turn.
TAKING_ROWS = frozenset({torch.Tensor.__iter__, torch.Tensor.unbind, torch.unbind})
MOST_TURNS = 256  # of a loop that runs as often as the data tell
NEEDS_WEIGHTS = 10  # which of the arguments of torch._native_multi_head_attention says so
UNKNOWN = "?"  # what a number is written as that is not known


class EagerView(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """While it is active, a module that is traced takes the path of one that runs.

    It changes what `torch.compiler.is_compiling()` and its like say in the whole process.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        examples: Any,
        returned: Callable[[Any], None] = lambda _: None,
        required: Callable[[torch.Tensor], None] = lambda _: None,
        assumes: bool = False,
    ) -> None:
        super().__init__()
        self._module = module
        self._returned = returned  # is called with what the module has given
        # Is called with what calls the module.
        self.before: Callable[[Callable[[], Any]], None] = lambda _: None
        self.assumes = assumes  # that sizes which nobody knows are as large as they can be
        self._required = required  # is called with what begins to require a gradient
        self._examples = pytree.tree_map_only(torch.Tensor, _copied, examples)
        self._known = WeakTensorKeyDictionary()  # what traced tensors hold
        self._exits = contextlib.ExitStack()
        # Names of the functions with a backward pass of their own, in the order of their first use.
        self.functions: dict[str, None] = {}
        # What sizes that only the data tell are for the example inputs, by their symbols.
        self.sizes: dict[str, int] = {}
        self.hooks = 0  # on the gradients of what it computes
        self.nests = False  # whether a padded batch would become a nested tensor

    def __enter__(self) -> EagerView:
        self._answer()
        super().__enter__()
        return self

    def _answer(self) -> None:
        # A hook would be seen: a layer that has one does not run as one operator.
        self._exits.enter_context(replaced(torch.nn.Module, "_call_impl", self._meet_call))
        self._exits.enter_context(_nothing_is_traced())
        self._exits.enter_context(_layers_run_fused())
        self._exits.enter_context(replaced(torch.autograd.Function, "apply", self._meet_function))
        self._exits.enter_context(replaced(operators, "setup_compilation_env", self._meet_compiler))
        if self.assumes:  # then it is not asserted that a size is what it is taken for
            self._exits.enter_context(
                replaced(export, "insert_deferred_runtime_asserts", lambda _: _do_nothing)
            )

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self._exits.close()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        known = self._held_by((args, kwargs))
        if known is not None and func in QUESTIONS:
            if func is torch.Tensor.__contains__:
                (args[1] == args[0]).any()  # what it runs before it looks
            return _run(func, known)
        if func in NESTING:
            return self._stay_padded(func, args)
        if known is None and func is torch.Tensor.__format__ and args[0].dim() == 0:
            args[0].item()  # what it runs before it writes
            return UNKNOWN
        if known is None and _overwrites(func, kwargs):
            self._forget((args[:1], kwargs.get("out")))
        if self.assumes and func in TAKING_ROWS:
            _refuse_long_loop(args[0])
        required = func in REQUIRING and not args[0].requires_grad
        result = func(*args, **kwargs)
        if required and args[0].requires_grad:
            self._required(args[0])
        self.hooks += func in HOOKING
        if known is not None:
            self._learn(func, known, result)
        if self.assumes:
            _assume_sizes((args, kwargs), result)
        if func is torch._native_multi_head_attention and not _needs_weights(args, kwargs):
            return result[0], None  # what it gives for tensors that have no memory is empty
        return result

    def _meet_compiler(self, environment: Any) -> Any:
        """What operators that take functions compile is traced by torch.compile, also where a model
        runs: that is to see nothing of this."""

        @contextlib.contextmanager
        def met() -> Iterator[Any]:
            with self._away(), environment() as backend:
                yield backend

        return met

    @contextlib.contextmanager
    def _away(self) -> Iterator[None]:
        from torch._dynamo import trace_rules

        above = self._taken_off()
        self._exits.close()
        # Its rules are of functions, of which it may have found those that stood in their place.
        trace_rules.get_torch_obj_rule_map.cache_clear()
        try:
            yield
        finally:
            self._answer()
            modes = [_pop_mode() for _ in above]
            _push_mode(self)
            for mode in reversed(modes):
                _push_mode(mode)

    def _taken_off(self) -> list[Any]:
        """Takes this off the stack of modes; returns those above it."""
        above = []
        while (mode := _pop_mode()) is not self:
            above.append(mode)
        for mode in reversed(above):
            _push_mode(mode)
        return above

    def _stay_padded(self, func: Any, args: Any) -> Any:
        """What asks for a nested tensor, whose sizes are data, goes on with the padded one."""
        if func is not torch._nested_tensor_from_mask_left_aligned:
            self.nests = True
            return args[0]
        mask = self._known.get(args[1])
        if mask is None or _run(lambda mask: func(mask.unsqueeze(-1), mask), ((mask,), {})):
            self.nests = True
        return False

    def _meet_call(self, call: Any) -> Any:
        def met(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            # The tracer calls the module by a proxy, which shares what it holds.
            if module.__dict__ is not self._module.__dict__:
                return call(module, *args, **kwargs)
            self._meet_inputs(args, kwargs)
            self.before(lambda: call(module, *args, **kwargs))
            # Autograd saves others in their place: where Python lets go of a tensor is seen,
            # whatever is saved. Autocast has it save casts, which are none of Python's.
            with saved_tensors_hooks(torch.Tensor.detach, _itself):
                result = call(module, *args, **kwargs)
            self._returned(result)
            return pytree.tree_map(_opened, result)

        return met

    def _meet_inputs(self, args: Any, kwargs: Any) -> None:
        example_args, example_kwargs = self._examples
        pairs = [(args, example_args), *((kwargs[name], example_kwargs[name]) for name in kwargs)]
        for traced, examples in pairs:
            leaves = zip(pytree.tree_leaves(traced), pytree.tree_leaves(examples), strict=True)
            for tensor, value in leaves:
                if isinstance(tensor, torch.Tensor) and isinstance(value, torch.Tensor):
                    self._known[tensor] = value
                if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                    self._required(tensor)

    def _meet_function(self, apply: Any) -> Any:
        def met(function: type, *args: Any, **kwargs: Any) -> Any:
            self.functions[function.__name__] = None
            return apply.__get__(None, function)(*args, **kwargs)

        return classmethod(met)

    def _held_by(self, call: Any) -> Any:
        """The arguments with the tensors' values; nothing where one of them is not known."""
        tensors = [leaf for leaf in pytree.tree_leaves(call) if isinstance(leaf, torch.Tensor)]
        if any(tensor not in self._known for tensor in tensors):
            return None
        return pytree.tree_map_only(torch.Tensor, lambda tensor: self._known[tensor], call)

    def _forget(self, overwritten: Any) -> None:
        """It may be seen through any tensor on its storage."""
        storages = {storage_of(leaf) for leaf in pytree.tree_leaves(overwritten)}
        for tensor in list(self._known.keys()):
            if storage_of(tensor) in storages:
                del self._known[tensor]

    def _learn(self, func: Any, known: Any, result: Any) -> None:
        traced = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        # What gives nothing may still overwrite what is known: `mask[2] = 0`.
        if not all(map(_is_small, traced)):
            return
        try:
            values = pytree.tree_leaves(_run(func, known))
        except Exception:  # PyTorch's own, of whatever kind: then it stays unknown
            return
        held = [value for value in values if isinstance(value, torch.Tensor)]
        for tensor, value in zip(traced, held, strict=False):
            self._known[tensor] = value
            self._learn_sizes(tensor, value)

    def _learn_sizes(self, tensor: torch.Tensor, value: torch.Tensor) -> None:
        for size, number in zip(tensor.shape, value.shape, strict=False):
            if symbol := _settle(size, number):
                self.sizes[symbol] = number


def _itself(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _opened(leaf: Any) -> Any:
    """What torch.export can give: the tensors of an object that it does not know, a cache say."""
    if leaf is None or isinstance(
        leaf, (torch.Tensor, bool, int, float, str, *torch.types.py_sym_types)
    ):
        return leaf
    return [part for part in reached_from(leaf) if isinstance(part, torch.Tensor)]


def reached_from(start: Any) -> list[Any]:
    """Objects that hold one another from this one on, tensors the last of their line; in the order
    in which they are met. No classes, modules and functions."""
    met: dict[int, Any] = {}
    found = [start]
    while found:
        thing = found.pop()
        if id(thing) in met or isinstance(thing, (type, ModuleType, FunctionType, torch.nn.Module)):
            continue
        met[id(thing)] = thing
        if not isinstance(thing, torch.Tensor):
            found += reversed(gc.get_referents(thing))
    return list(met.values())


def _needs_weights(args: Any, kwargs: Any) -> bool:
    """Whether a call of torch._native_multi_head_attention asks for them; it does unless told."""
    given = args[NEEDS_WEIGHTS] if len(args) > NEEDS_WEIGHTS else kwargs.get("need_weights", True)
    return bool(given)


def _copied(tensor: torch.Tensor) -> torch.Tensor | None:
    """What an input holds, for the tracing alone. None of what is data rather than a mask: a path
    that depends on it is none that can be told beforehand."""
    if tensor.is_complex() or tensor.device.type == "meta" or not _is_small(tensor):
        return None
    held = tensor.detach().clone()
    return held if not tensor.is_floating_point() or _is_mask(held) else None


def _is_mask(numbers: torch.Tensor) -> bool:
    """Whether some are minus infinity, and all others zero: what is added to scores."""
    hidden = numbers == -torch.inf
    return bool(hidden.any()) and bool((hidden | (numbers == 0)).all())


def _is_small(tensor: torch.Tensor) -> bool:
    """As far as its size is known while it is traced."""
    return math.prod(n for n in tensor.shape if isinstance(n, int)) <= MOST_ELEMENTS


def _do_nothing(*_: Any, **__: Any) -> None:
    """Stands for a pass."""


def _settle(size: Any, number: int) -> str:
    """Has branches that depend on a size which only the data tell be taken as for this number.
    Returns its symbol; none where it is no such size."""
    if not isinstance(size, torch.SymInt) or not is_symbolic(size):
        return ""
    symbol = size.node.expr
    if not symbol.is_Symbol or symbol not in free_unbacked_symbols(size):
        return ""
    size.node.shape_env.set_real_tensor_prop_unbacked_vals(symbol, number)
    return str(symbol)


def _assume_sizes(call: Any, result: Any) -> None:
    """What chooses by a mask may choose all of it, and other functions all rows."""
    given = [leaf for leaf in pytree.tree_leaves(call) if isinstance(leaf, torch.Tensor)]
    masks = (tensor.numel() for tensor in given if tensor.dtype == torch.bool)
    rows = (tensor.shape[0] for tensor in given if tensor.dim() > 0)
    largest = next(itertools.chain(masks, rows), None)
    met = {str(free) for tensor in given for size in tensor.shape for free in _unbacked_in(size)}
    for tensor in pytree.tree_leaves(result):
        if not isinstance(tensor, torch.Tensor):
            continue
        for size in tensor.shape:
            made = [symbol for symbol in _unbacked_in(size) if str(symbol) not in met]
            if made and (most := _number_of(largest, size.node.shape_env)) is not None:
                _settle(size, most)


def _refuse_long_loop(tensor: torch.Tensor) -> None:
    size: Any = tensor.shape[0] if tensor.dim() else 0
    if not _unbacked_in(size):
        return
    turns = _number_of(size, size.node.shape_env)
    if turns is None or turns > MOST_TURNS:
        raise NotImplementedError("a loop runs as often as the data tell")


def _unbacked_in(size: Any) -> Any:
    return free_unbacked_symbols(size) if isinstance(size, torch.SymInt) else ()


def _number_of(size: Any, environment: Any) -> int | None:
    """With what is settled; nothing where it is not known."""
    if not isinstance(size, torch.SymInt):
        return None if size is None else int(size)
    number = size.node.expr.xreplace(environment.real_tensor_prop_unbacked_vals)
    return int(number) if number.is_Integer else None


def storage_of(leaf: Any) -> int | None:
    """What a tensor lies in, which views of it do, too; of anything else nothing."""
    return leaf.untyped_storage()._cdata if isinstance(leaf, torch.Tensor) else None


def _overwrites(func: Any, kwargs: Any) -> bool:
    name = getattr(func, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return (
        in_place
        or name in ("__setitem__", "__set__")
        or name.startswith("__i")
        or (kwargs.get("out") is not None)
    )


def _run(func: Any, call: Any) -> Any:
    """Runs it for real, unseen by what traces, and without a random number's being drawn."""
    args, kwargs = call
    with contextlib.ExitStack() as modes:
        modes.enter_context(unset_fake_temporarily())
        modes.enter_context(disable_proxy_modes_tracing())
        modes.enter_context(torch._C.DisableTorchFunction())
        modes.enter_context(torch.no_grad())
        modes.enter_context(torch.random.fork_rng(devices=[]))
        return func(*args, **kwargs)


@contextlib.contextmanager
def replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Has `name` of `owner` be what `make` makes of it, where there is such a name."""
    kept = owner.__dict__.get(name)
    if kept is not None:  # older versions ask less
        setattr(owner, name, make(kept))
    try:
        yield
    finally:
        if kept is not None:
            setattr(owner, name, kept)


@contextlib.contextmanager
def _nothing_is_traced() -> Iterator[None]:
    class NoTensor:
        """Nothing is an instance of it."""

    def no() -> bool:
        return False

    with contextlib.ExitStack() as answers:
        for name in ("is_compiling", "is_dynamo_compiling", "is_exporting"):
            answers.enter_context(replaced(torch.compiler, name, lambda _: no))
        answers.enter_context(replaced(torch._subclasses, "FakeTensor", lambda _: NoTensor))
        # While it traces PyTorch keeps no casts, and so none would be kept of what it has traced.
        keeps = torch.is_autocast_cache_enabled()
        answers.enter_context(replaced(torch, "is_autocast_cache_enabled", lambda _: lambda: keeps))
        answers.enter_context(
            replaced(torch, "set_autocast_cache_enabled", lambda _: lambda keeps: None)
        )
        yield


@contextlib.contextmanager
def _layers_run_fused() -> Iterator[None]:
    """Has the layers of torch.nn call one operator where they do so untraced."""

    def always(answer: Any) -> Callable[[Any], Any]:
        return lambda _: answer

    def overridden(tensors: Any) -> bool:
        return any(
            function_of(type(tensor)) not in plain
            for tensor in tensors
            if isinstance(tensor, torch.Tensor)
        )

    def function_of(kind: Any) -> Any:
        function = kind.__torch_function__
        return getattr(function, "__func__", function)

    plain = (function_of(torch.Tensor), torch._C._disabled_torch_function_impl)

    changes = (
        # The mode by which this module sees calls is no tensor's function.
        (torch.overrides, "has_torch_function", overridden),
        # Functions of Python's that are called by way of the mode hold their arguments to the end.
        *(
            (owner, name, answer)
            for owner in (torch.nn.functional, torch.functional)
            for name, answer in (
                ("has_torch_function", overridden),
                ("has_torch_function_unary", lambda tensor: overridden((tensor,))),
                ("has_torch_function_variadic", lambda *tensors: overridden(tensors)),
            )
        ),
        (torch.nn.modules.activation, "_is_make_fx_tracing", lambda: False),
        # The meta device stands for the one that the model is to run on.
        (torch.utils.backend_registration, "_privateuse1_backend_name", "meta"),
    )
    with contextlib.ExitStack() as answers:
        for owner, name, answer in changes:
            answers.enter_context(replaced(owner, name, always(answer)))
        yield
