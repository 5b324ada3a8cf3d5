# SPDX-License-Identifier: Apache-2.0
"""When Python lets go of the tensors of a module that is traced.

While a module is traced its functions run, and what they hold in variables, containers and
attributes is held as when it runs. So a tensor is let go where the traced one is. `Lifetimes` notes
after which node that is. What a module holds from one call to the next is found by a call before
the one that is traced.
"""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import functools
import gc
import operator
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from steelyard.eager_view import reached_from, replaced, storage_of

KEPT = "kept_from_the_last_call_"  # and a number: what values are called that nothing traced made
KEY = "steelyard_node"  # of a node's annotation, which is a number that its copies have, too


@dataclasses.dataclass
class Kept:
    """A storage that the module holds when it is called."""

    name: str
    size: int  # bytes
    tensors: list[Any] = dataclasses.field(default_factory=list)  # weak references
    number: int = 0  # of the node that stands for making it


class Told(NamedTuple):
    """After which nodes which values are let go; what is there before, with its bytes; which
    values the module keeps; by last nodes what checkpointed functions are given; and before which
    nodes which values begin to require a gradient."""

    let_go: list[tuple[int, list[str]]]
    kept: list[tuple[str, int]]
    keeps: list[str]
    given: list[tuple[int, list[str]]]
    requires_gradient: list[tuple[int, str]]


class Lifetimes(contextlib.ExitStack):
    """While it is active, it notes where tensors that are traced are let go."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = 0
        self._graph: torch.fx.Graph | None = None
        self._alive: dict[int, Any] = {}  # weak references, by the numbers of nodes
        self._let_go: list[tuple[int, int | Kept]] = []  # after which node, and what
        self._given_to = WeakTensorKeyDictionary()  # parameters and the like, which others hold
        self.kept_before: dict[int, Kept] = {}  # of its last call, by storages
        self.kept: list[int] = []  # of this one
        self._still: list[Kept] = []  # of both
        self._detached: dict[int, int] = {}  # what of, which an exported graph has instead
        self._stand_ins = 0  # the last number of nodes that stand for what was there before
        self._stands_in = False  # while nodes are made for what was there before
        self._required: list[tuple[int, int]] = []  # after which node, and what
        self._given: dict[torch.fx.Node, list[int]] = {}  # to what runs until a node
        self._last = 0  # the node that ran last when the module had returned; 0: it has not

    def __enter__(self) -> Lifetimes:
        super().__enter__()
        self.enter_context(replaced(proxy_tensor, "set_proxy_slot", self._meet))
        return self

    def _meet(self, set_slot: Any) -> Any:
        def met(tensor: Any, tracer: Any, proxy: Any, *others: Any) -> Any:
            result = set_slot(tensor, tracer, proxy, *others)
            if isinstance(tensor, torch.Tensor):
                self._note(tensor, proxy)
            return result

        return met

    def _note(self, tensor: torch.Tensor, proxy: Any) -> None:
        node = getattr(getattr(proxy, "proxy", proxy), "node", None)
        if node is not None and node.op == "placeholder":
            self._given_to[tensor] = True
        if (
            self._stands_in
            or node is None
            or node.op != "call_function"
            or tensor in self._given_to
        ):
            return
        number = self._number_of(node)
        if node.target is torch.ops.aten.detach.default:
            self._detached[number] = self._number_of(node.args[0])
        graph = self._graph = node.graph if self._graph is None else self._graph
        if node.graph is not graph:  # a branch of an operator that takes functions
            return

        def gone(_: Any) -> None:
            # What autograd has kept goes with what the module gave, and is its own.
            if self._alive.pop(number, None) is not None and self._last == 0:
                self._let_go.append((self._last_in(graph), number))

        self._alive[number] = weakref.ref(tensor, gone)

    def _number_of(self, node: torch.fx.Node) -> int:
        custom = node.meta.get("custom") or {}
        if KEY not in custom:
            self._numbers += 1
            node.meta["custom"] = {**custom, KEY: self._numbers}
        return int(node.meta["custom"][KEY])

    def _last_in(self, graph: torch.fx.Graph) -> int:
        calls = (node for node in reversed(graph.nodes) if node.op == "call_function")
        last = next(calls, None)
        return 0 if last is None else self._number_of(last)

    def numbers_of(self, tensors: Iterable[Any]) -> list[int]:
        """Of those that are traced."""
        mode = proxy_tensor.get_proxy_mode()
        slots = [] if mode is None else [_slot_of(tensor, mode.tracer) for tensor in tensors]
        return [self._number_of(slot.proxy.node) for slot in slots if slot is not None]

    def require(self, tensor: torch.Tensor) -> None:
        """It requires a gradient from here on."""
        last = 0 if self._graph is None else self._last_in(self._graph)
        self._required += [(last, number) for number in self.numbers_of([tensor])]

    def give(self, numbers: list[int], until: torch.fx.Node) -> None:
        """What runs until that node is given these, and keeps them whether it uses them or not."""
        self._given[until] = numbers

    def rehearse(self, call: Callable[[], Any]) -> None:
        """Has the module run once untraced, and notes what it still holds afterwards."""
        made: list[tuple[Any, int, int]] = []

        class Noting(TorchDispatchMode):  # type: ignore[misc, unused-ignore]
            def __torch_dispatch__(
                self, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                result = func(*args, **(kwargs or {}))
                for tensor in pytree.tree_leaves(result):
                    if isinstance(tensor, FakeTensor):
                        _forget_symbols(tensor.fake_mode.shape_env)
                        stored = tensor.untyped_storage()
                        made.append((weakref.ref(tensor), stored._cdata, stored.nbytes()))
                return result

        others = {storage_of(tensor) for tensor in self._given_to}
        with disable_proxy_modes_tracing(), torch.no_grad(), Noting():
            call()
        gc.collect()
        for reference, storage, size in made:
            if (tensor := reference()) is None or storage in others:
                continue
            kept = self.kept_before.setdefault(
                storage, Kept(f"{KEPT}{len(self.kept_before)}", size)
            )
            kept.tensors.append(weakref.ref(tensor, functools.partial(self._one_gone, kept)))
        for kept in self.kept_before.values():
            self._stand_in(kept)

    def _stand_in(self, kept: Kept) -> None:
        """Has the graph make what the module holds, which it may use."""
        mode = proxy_tensor.get_proxy_mode()
        tensors = [tensor for reference in kept.tensors if (tensor := reference()) is not None]
        if mode is None or not tensors:
            return
        first = tensors[0]
        size = kept.size // first.element_size()
        self._stands_in = True
        base = torch.empty(size, dtype=first.dtype, device=first.device)
        node = _node_of(base, mode.tracer)
        self._graph, kept.number = node.graph, self._number_of(node)
        for tensor in tensors:
            view = torch.as_strided(base, tensor.size(), tensor.stride(), tensor.storage_offset())
            proxy = proxy_tensor.get_proxy_slot(view, mode.tracer)
            proxy_tensor.set_proxy_slot(tensor, mode.tracer, proxy)
            self._number_of(proxy.proxy.node)
        self._stand_ins = self._numbers
        self._stands_in = False

    def _one_gone(self, kept: Kept, reference: Any) -> None:
        kept.tensors.remove(reference)
        if not kept.tensors and self._graph is not None and self._last == 0:
            self._let_go.append((self._last_in(self._graph), kept))

    def returned(self, result: Any) -> None:
        """The module has returned this; what else of Python's holds tensors is what it keeps."""
        if self._graph is None:
            return
        self._last = self._last_in(self._graph)
        given = {id(leaf) for leaf in pytree.tree_leaves(result)}
        held = _held_besides(result)

        def is_kept(tensor: Any) -> bool:
            return id(tensor) in held if id(tensor) in given else _is_held(tensor)

        self.kept = [number for number, get in self._alive.items() if is_kept(get())]
        self._still = [kept for kept in self.kept_before.values() if kept.tensors]

    def told(self, exported: ExportedProgram) -> Told:
        """What was found, as the file will have it."""
        for node in reversed(exported.graph.nodes):
            if 0 < _number_in(node) <= self._stand_ins and not node.users:
                exported.graph.erase_node(node)
        names: dict[int, str] = {}
        places: dict[int, int] = {}
        ends: dict[int, list[int]] = {}
        place = -1
        for node in exported.graph.nodes:
            if node.op == "placeholder" and (number := _number_in(node)):
                names[number] = node.name
            if node.op != "call_function":
                continue
            if node.target is not operator.getitem:  # which a file has as a result of its node
                place += 1
            if number := _number_in(node):
                # Assertions that export puts in have the number of what they are about.
                names.setdefault(number, node.name)
                places.setdefault(number, place)
            if node in self._given:
                ends[place] = self._given[node]
            for inner, name in _within(node):
                number = _number_in(inner)
                places.setdefault(number, place)
                if name:
                    names.setdefault(number, name)
        for number, of in self._detached.items():  # in the order of the nodes
            if number not in names and of in names:
                names[number] = names[of]
        in_order = sorted(places)

        def place_of(number: int) -> int:
            """What is not in the file ran with the last one before it that is; -1: before all."""
            at = bisect.bisect(in_order, number)
            return places[in_order[at - 1]] if at else -1

        for kept in self.kept_before.values():
            kept.name = names.get(kept.number, kept.name)  # it is in the graph where it is used
        let_go: dict[int, list[str]] = {}
        before: list[Kept] = [*self._still]
        for after, gone in self._let_go:
            if (place := place_of(after)) < 0:  # before anything has run
                continue
            if isinstance(gone, Kept):
                before.append(gone)
            if name := gone.name if isinstance(gone, Kept) else names.get(gone, ""):
                let_go.setdefault(place, []).append(name)
        return Told(
            let_go=sorted(let_go.items()),
            kept=[(kept.name, kept.size) for kept in before],
            keeps=[
                *(names[number] for number in self.kept if number in names),
                *(kept.name for kept in self._still),
            ],
            given=[
                (end, [names[number] for number in numbers if number in names])
                for end, numbers in ends.items()
            ],
            requires_gradient=[
                (place_of(after) + 1, names[number])
                for after, number in self._required
                if number in names
            ],
        )


def _within(node: torch.fx.Node) -> Iterator[tuple[torch.fx.Node, str]]:
    """The nodes of the graphs that a node runs, and what the graph calls those that it gives."""
    names = {user.args[1]: user.name for user in node.users if user.target is operator.getitem}
    for body in node.args:
        if not isinstance(body, torch.fx.Node) or body.op != "get_attr":
            continue
        graph = getattr(body.graph.owning_module, str(body.target)).graph
        given = pytree.tree_leaves(graph.output_node().args)
        for inner in graph.nodes:
            if _number_in(inner):
                yield inner, names.get(given.index(inner), "") if inner in given else ""


def _forget_symbols(environment: Any) -> None:
    """Whoever traces next would ask where sizes that only the data tell came from."""
    if environment is not None:
        environment.pending_fresh_unbacked_symbols.clear()


def _number_in(node: torch.fx.Node) -> int:
    return int((node.meta.get("custom") or {}).get(KEY, 0))


def _slot_of(tensor: torch.Tensor, tracer: Any) -> Any:
    """What stands for it in a traced graph; None where it is not traced."""
    return proxy_tensor.get_proxy_slot(tensor, tracer, default=None)


def _node_of(tensor: torch.Tensor, tracer: Any) -> torch.fx.Node:
    return _slot_of(tensor, tracer).proxy.node


def _is_held(tensor: Any) -> bool:
    """Whether anything in Python holds it besides a container of who asks. What autograd has saved
    holds its object, too, once."""
    asking = 4 if tensor._use_count() > 1 else 3
    return sys.getrefcount(tensor) > asking


def _held_besides(result: Any) -> set[int]:
    """The ids of those tensors of a result that anything holds besides the result itself."""
    leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    within = {id(leaves), *(id(thing) for thing in reached_from(result))}
    held: set[int] = set()
    for holder in gc.get_referrers(*leaves):
        if id(holder) not in within and not isinstance(holder, FrameType):
            held |= {id(tensor) for tensor in gc.get_referents(holder)}
    return held
