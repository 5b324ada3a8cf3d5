# SPDX-License-Identifier: Apache-2.0
"""When Python lets go of the tensors of a module that is traced.

While a module is traced its functions run, and what they hold in variables, containers and
attributes is held as when it runs. So a tensor is let go where the traced one is. `Lifetimes` notes
after which node that is.
"""

from __future__ import annotations

import contextlib
import gc
import operator
import weakref
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.experimental import proxy_tensor
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary

from steelyard.eager_view import replaced

KEY = "steelyard_node"  # of a node's annotation, which is a number that its copies have, too


class Lifetimes(contextlib.ExitStack):
    """While it is active, it notes where tensors that are traced are let go."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = 0
        self._graph: torch.fx.Graph | None = None
        self._alive: dict[int, Any] = {}  # weak references, by the numbers of nodes
        self._let_go: list[tuple[int, int]] = []  # after which node, and what
        self._given_to = WeakTensorKeyDictionary()  # parameters and the like, which others hold
        self._kept: list[int] | None = None
        self._given: set[int | None] = {None}  # the storages of what the module has given
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
        if node is None or node.op != "call_function" or tensor in self._given_to:
            return
        number = self._number_of(node)
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

    def returned(self, result: Any) -> None:
        """The module has returned this."""
        if self._graph is None:
            return
        self._last = self._last_in(self._graph)
        self._given = {None, *map(_storage_of, pytree.tree_leaves(result))}
        if not torch.is_grad_enabled():  # else autograd holds tensors, too
            self._kept = self._held()

    def _held(self) -> list[int]:
        """The numbers of what is alive, but for what the module has given."""
        alive = ((number, reference()) for number, reference in self._alive.items())
        return [number for number, tensor in alive if _storage_of(tensor) not in self._given]

    def kept(self) -> list[int]:
        """The numbers of what is held when the module has returned, or where autograd holds tensors
        when nothing of the tracing is left: in attributes of the module, say."""
        if self._kept is None:
            if self._alive:
                gc.collect()
            self._kept = self._held()
        return self._kept

    def told(self, exported: ExportedProgram) -> list[tuple[int, list[str]]]:
        """After which nodes which values are let go, as the file will have them; what is kept, at
        the end."""
        names: dict[int, str] = {}
        places: dict[int, int] = {}
        place = -1
        for node in exported.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target is not operator.getitem:  # which a file has as a result of its node
                place += 1
            if number := (node.meta.get("custom") or {}).get(KEY):
                names[number], places[number] = node.name, place
        told: dict[int, list[str]] = {}
        for after, number in [*self._let_go, *((self._last, number) for number in self.kept())]:
            if number in names and after in places:
                told.setdefault(places[after], []).append(names[number])
        return sorted(told.items())


def _storage_of(value: Any) -> int | None:
    """What a tensor lies in, which views of it do, too; of anything else nothing."""
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None
