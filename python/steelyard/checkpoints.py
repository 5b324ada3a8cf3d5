# SPDX-License-Identifier: Apache-2.0
"""Finding what of a module runs under `torch.utils.checkpoint` while the module is traced.

torch.export traces through a checkpoint and forgets it. While `Checkpoints` is active every node
that is traced within one says so; afterwards these nodes are one call of a module in the exported
program, which `--recompute` takes for a region by the module's path.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.export import ExportedProgram
from torch.fx import traceback
from torch.utils import checkpoint

from steelyard import _core
from steelyard.eager_view import reached_from, replaced
from steelyard.lifetimes import Lifetimes

KEY = "steelyard_checkpoint"  # of a node's annotation, which is the number of its region
RANDOM = "steelyard_random"  # of a node's annotation: it makes a state of random numbers
NAME = "checkpoint"  # of what is no module's call, below the module that calls it
RANDOM_STATE = 5056  # bytes of torch.get_rng_state()
# What the options of a checkpoint change that `--recompute` does not do.
UNMODELLED = {
    "context_fn": "what context_fn keeps in a checkpoint is not modelled: all is run again",
    "preserve_rng_state": "checkpoints with preserve_rng_state=False are weighed as if they kept "
    "the state of random numbers",
    "early_stop": "checkpoints with early_stop=False are weighed as if they stopped early",
}
NESTED = "checkpoints within checkpoints are weighed as if only the outermost were there"
MIXED = (
    "checkpoints with use_reentrant=True beside such with use_reentrant=False are weighed as if "
    "all had use_reentrant=False"
)

# A call of a module: the keys of a node's module stack down to it.
Call = tuple[str, ...]


class Checkpoints(contextlib.ExitStack):
    """While it is active, a checkpoint runs its function and notes what is traced in it."""

    def __init__(self, lifetimes: Lifetimes) -> None:
        super().__init__()
        self._lifetimes = lifetimes
        self._given: list[list[int]] = []  # by region: numbers of the tensors it is given
        self._reentrant: list[bool] = []  # by region
        self._within = False
        self._notes: dict[str, None] = {}
        self.modules: list[str] = []  # paths of those whose calls are regions

    def __enter__(self) -> Checkpoints:
        super().__enter__()
        self.enter_context(replaced(checkpoint, "_checkpoint_impl", self._meet))
        return self

    def _meet(self, checkpointed: Any) -> Any:
        def met(
            function: Any,
            args: Sequence[Any],
            kwargs: Mapping[str, Any],
            *,
            use_reentrant: bool | None = None,
            **options: Any,
        ) -> Any:
            if not torch.is_grad_enabled():  # then PyTorch runs nothing again
                return _run_once(function, args, kwargs, options.get("preserve_rng_state", True))
            self._note_options(options)
            if self._within:
                self._notes[NESTED] = None
                return function(*args, **kwargs)
            self._reentrant.append(use_reentrant is not False)
            given = reached_from([*_held_by(function), args, kwargs])
            self._given.append(
                self._lifetimes.numbers_of(x for x in given if isinstance(x, torch.Tensor))
            )
            with self._annotated(len(self._reentrant)):
                return function(*args, **kwargs)

        return met

    @contextlib.contextmanager
    def _annotated(self, region: int) -> Iterator[None]:
        self._within = True
        try:
            with (
                traceback.preserve_node_meta(),
                traceback.annotate({KEY: region}),
                saved_tensors_hooks(lambda _: None, _unpacked),
            ):
                yield
        finally:
            self._within = False

    def _note_options(self, options: Mapping[str, Any]) -> None:
        keeps = options.get("context_fn", checkpoint.noop_context_fn)
        stops = options.get("early_stop", True)
        unmodelled = {
            "context_fn": keeps is not checkpoint.noop_context_fn,
            "preserve_rng_state": not options.get("preserve_rng_state", True),
            "early_stop": not stops,
        }
        self._notes |= {UNMODELLED[name]: None for name, differs in unmodelled.items() if differs}

    def mark(self, exported: ExportedProgram) -> None:
        """Makes each region the call of a module: of its own, where it is all of that, or else of
        one that stands for the function that was checkpointed."""
        if not self._reentrant:
            return
        homes, paths = _homes_of_calls(exported)
        split = {paths[call] for call, home in homes.items() if len(home) > 1 or 0 in home}
        taken = set(paths.values())
        for region, nodes in _regions_of(exported).items():
            self._lifetimes.give(self._given[region - 1], nodes[-1])
            around = _call_around(nodes)
            if homes.get(around) != {region} or paths[around] in split | {""}:
                self.modules.append(_put_call_around(nodes, region, around, paths, taken))
            else:
                self.modules.append(paths[around])

    def join(self, train: _core.TrainOptions) -> list[str]:
        """Adds them to what a user has recomputed; what is not weighed as it runs, in words."""
        kinds = set(self._reentrant)
        if train.recompute:
            kinds.add(train.recompute_reentrant)
        if self.modules:
            train.recompute = [*train.recompute, *dict.fromkeys(self.modules)]
            train.recompute_reentrant = kinds == {True}
        return [*self._notes, *([MIXED] if len(kinds) > 1 else [])]


def _unpacked(_: None) -> torch.Tensor:
    raise NotImplementedError("what a checkpoint computes is not differentiated while it is traced")


def _held_by(function: Any) -> list[Any]:
    """What a function has besides its arguments: of functions around it, and by default."""
    if isinstance(function, FunctionType):
        cells = function.__closure__ or ()
        return [*cells, function.__defaults__, function.__kwdefaults__]
    return [function]


def _run_once(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], keeps_random: bool
) -> Any:
    """While it runs it keeps the state of random numbers all the same."""
    state = None
    if keeps_random:
        with traceback.preserve_node_meta(), traceback.annotate({RANDOM: 1}):
            state = torch.empty(RANDOM_STATE, dtype=torch.uint8)
    result = function(*args, **kwargs)
    del state
    return result


def leave_states_to_host(exported: ExportedProgram) -> None:
    """States of random numbers are the host's, and no memory of a device that the rest is on."""
    for node in list(exported.graph.nodes):
        if RANDOM in (node.meta.get("custom") or {}):
            exported.graph.erase_node(node)


def _home_of(node: torch.fx.Node) -> int:
    """The number of its region; 0 for none."""
    return int(node.meta.get("custom", {}).get(KEY, 0))


def _calls_of(node: torch.fx.Node) -> list[tuple[Call, str]]:
    """The calls of modules that it is in, the outermost first, with the modules' paths."""
    stack = node.meta.get("nn_module_stack") or {}
    keys = tuple(stack)
    return [(keys[: i + 1], stack[key][0]) for i, key in enumerate(keys)]


def _homes_of_calls(exported: ExportedProgram) -> tuple[dict[Call, set[int]], dict[Call, str]]:
    """By call: the regions that its nodes are in, and the path of its module."""
    homes: dict[Call, set[int]] = {}
    paths: dict[Call, str] = {}
    for node in exported.graph.nodes:
        for call, path in () if _asserts(node) else _calls_of(node):
            homes.setdefault(call, set()).add(_home_of(node))
            paths[call] = path
    return homes, paths


def _regions_of(exported: ExportedProgram) -> dict[int, list[torch.fx.Node]]:
    regions: dict[int, list[torch.fx.Node]] = {}
    last, assertions = 0, []
    for node in exported.graph.nodes:
        if _asserts(node):
            assertions.append(node)
            continue
        region = _home_of(node)
        if region:
            within = assertions if region == last else []
            regions.setdefault(region, []).extend([*within, node])
        last, assertions = region, []
    return regions


def _asserts(node: torch.fx.Node) -> bool:
    """Whether export has put it in, which says that it is where what it is about is."""
    return bool(node.target == torch.ops.aten._assert_tensor_metadata.default)


def _call_around(nodes: Sequence[torch.fx.Node]) -> Call:
    """The innermost call that all of them are in."""
    stacks = [tuple(node.meta["nn_module_stack"]) for node in nodes if _calls_of(node)]
    same = itertools.takewhile(lambda keys: len(set(keys)) == 1, zip(*stacks, strict=False))
    return tuple(keys[0] for keys in same)


def _put_call_around(
    nodes: Sequence[torch.fx.Node],
    region: int,
    around: Call,
    paths: Mapping[Call, str],
    taken: set[str],
) -> str:
    """Has the nodes be within a call of a module that there is not, below the call around them.
    Returns its path."""
    parent = paths.get(around, "")
    path = f"{parent}.{NAME}" if parent else NAME
    while path in taken:
        path += "_"
    entry = {f"{KEY}@{region}": (path, f"{checkpoint.__name__}.{NAME}")}
    for node in nodes:
        if stack := node.meta.get("nn_module_stack"):
            items = list(stack.items())
            at = len(around)
            node.meta["nn_module_stack"] = {**dict(items[:at]), **entry, **dict(items[at:])}
    return path
