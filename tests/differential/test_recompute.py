# SPDX-License-Identifier: Apache-2.0
"""Training steps with modules under torch.utils.checkpoint: every allocation and free.

What is exported is the model as it is. PyTorch runs the exported graph with the nodes of each
chosen module in a graph module of their own, which `checkpoint` calls.
"""

import json
import operator
import os
import subprocess
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import torch
from compare import Events, side_by_side
from recorder import events_of
from table import ROOT
from torch import fx, nn
from torch.utils.checkpoint import checkpoint


class Perceptron(nn.Module):  # type: ignore[misc]
    """Two blocks of linear layers, the second of which ends in what is saved."""

    def __init__(self) -> None:
        super().__init__()
        self.front = nn.Linear(30, 30)
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(30, 50), nn.Tanh(), nn.Linear(50, 30)),
                nn.Sequential(nn.Linear(30, 40), nn.GELU(), nn.Linear(40, 30), nn.Tanh()),
            ]
        )
        self.head = nn.Linear(30, 11)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.front(x)
        for block in self.blocks:
            x = block(x)
        y: torch.Tensor = self.head(x)
        return y


class Block(nn.Module):  # type: ignore[misc]
    """A transformer's block that normalizes first, with dropout and a mask."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        split = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1) / 2.0).masked_fill(mask, -1e9)
        mixed = self.dropout(scores.softmax(-1)) @ v
        x = x + self.dropout(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))
        y: torch.Tensor = x + self.down(nn.functional.gelu(self.up(self.second(x))))
        return y


class Transformer(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.layer = nn.ModuleList([Block(16, 4) for _ in range(2)])
        self.head = nn.Linear(16, 50)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        for layer in self.layer:
            x = layer(x, mask)
        y: torch.Tensor = self.head(x)
        return y


class Residual(nn.Module):  # type: ignore[misc]
    """Convolutions around which the input goes."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        z: torch.Tensor = self.relu(self.bn2(self.conv2(y)) + x)
        return z


class Convolutions(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.blocks = nn.Sequential(Residual(16), nn.MaxPool2d(2), Residual(16))
        self.head = nn.Linear(16, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.stem(image))
        y: torch.Tensor = self.head(x.mean((2, 3)))
        return y


class Shared(nn.Module):  # type: ignore[misc]
    """One module that is called three times, in a row."""

    def __init__(self) -> None:
        super().__init__()
        self.front = nn.Linear(30, 30)
        self.layer = nn.Sequential(nn.Linear(30, 30), nn.Dropout(0.1), nn.Sigmoid())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.front(x)
        for _ in range(3):
            x = self.layer(x)
        return x


class Forked(nn.Module):  # type: ignore[misc]
    """A block that takes two tensors and gives two, one of which is a view, and a number."""

    def __init__(self) -> None:
        super().__init__()
        self.front = nn.Linear(30, 30)
        self.block = Halves()
        self.first, self.second = nn.Linear(10, 4), nn.Linear(20, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.front(x)
        a, b = self.block(x, x.sigmoid())
        y: torch.Tensor = self.first(a * 2.0) + self.second(b)
        return y


class Unused(nn.Module):  # type: ignore[misc]
    """A product beside a block that nothing needs: its node dies and never runs."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.side = nn.Linear(30, 20), nn.Linear(20, 1)
        self.block = nn.Sequential(nn.LayerNorm(20), nn.Linear(20, 30))
        self.head = nn.Linear(30, 11)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.front(x)
        self.side(x) * self.block[0](x)
        y: torch.Tensor = self.head(self.block(x))
        return y


class Halves(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(30, 30)

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.linear(x * 0.5) * gate
        first, second = y.split([10, 20], 1)
        return first, second.exp()


class Widened(nn.Module):  # type: ignore[misc]
    """A block whose input has a second use, of which another gradient comes; both are views."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.block = nn.Linear(4, 64), nn.Linear(64, 4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.front(x)
        y: torch.Tensor = self.block(x + x[..., :1]) + self.block(x)
        return y


@dataclass(frozen=True)
class Case:
    make: Callable[[], nn.Module]
    sample: Callable[[], torch.Tensor]
    patterns: tuple[str, ...]
    frozen: tuple[str, ...] = ()


def row() -> torch.Tensor:
    return torch.randn(9, 30)


CASES = {
    "perceptron": Case(Perceptron, row, ("blocks.*",)),
    "perceptron_front": Case(Perceptron, row, ("front", "blocks.1")),
    "perceptron_layers": Case(Perceptron, row, ("blocks.0.?",)),
    "transformer": Case(Transformer, lambda: torch.randint(0, 50, (2, 8)), ("layer.*",)),
    "transformer_last": Case(Transformer, lambda: torch.randint(0, 50, (2, 8)), ("layer.1",)),
    "convolutions": Case(Convolutions, lambda: torch.randn(2, 3, 8, 8), ("blocks.*",)),
    "shared": Case(Shared, row, ("layer",)),
    "forked": Case(Forked, row, ("block",)),
    "frozen_front": Case(Perceptron, row, ("blocks.*",), ("front",)),
    "frozen_embedding": Case(
        Transformer, lambda: torch.randint(0, 50, (2, 8)), ("layer.*",), ("embed",)
    ),
    "frozen_stem": Case(
        Convolutions, lambda: torch.randn(2, 3, 8, 8), ("blocks.*",), ("stem", "blocks.0")
    ),
    "widened": Case(Widened, lambda: torch.randn(3, 9, 4), ("block",)),
    "unused": Case(Unused, row, ("block",), ("front",)),
}


def region_of(node: fx.Node, patterns: tuple[str, ...]) -> str | None:
    """The outermost call of a module that a pattern names, by its key in the stack."""
    for key, (path, _) in (node.meta.get("nn_module_stack") or {}).items():
        if path and any(fnmatchcase(path, pattern) for pattern in patterns):
            return str(key)
    return None


def body_of(module: fx.GraphModule, nodes: list[fx.Node]) -> tuple[Any, list[Any], list[Any]]:
    """A graph module of what the nodes compute, its arguments and its results."""
    graph = fx.Graph()
    inside = set(nodes)
    operands = {o: None for node in nodes for o in node.all_input_nodes if o not in inside}
    arguments = [operand for operand in operands if operand.op != "get_attr"]
    known = {argument: graph.placeholder(argument.name) for argument in arguments}
    for operand in operands:
        if operand.op == "get_attr":
            known[operand] = graph.get_attr(operand.target)
    for node in nodes:
        known[node] = graph.node_copy(node, lambda n: known[n])
    results = [node for node in nodes if any(user not in inside for user in node.users)]
    given = [known[result] for result in results]
    graph.output(given[0] if len(given) == 1 else tuple(given))
    return fx.GraphModule(module, graph), arguments, results


def checkpointed(module: fx.GraphModule, case: Case, reentrant: bool) -> fx.GraphModule:
    """The module with each region in a checkpoint."""
    graph = module.graph
    regions: dict[str, list[fx.Node]] = {}
    for node in list(graph.nodes):
        if node.op == "call_module":  # checks of the inputs
            graph.erase_node(node)
        region = region_of(node, case.patterns) if node.op == "call_function" else None
        if region is not None:
            regions.setdefault(region, []).append(node)
    for i, nodes in enumerate(regions.values()):
        body, arguments, results = body_of(module, nodes)
        module.add_submodule(f"region{i}", body)
        with graph.inserting_after(nodes[-1]):
            function = graph.get_attr(f"region{i}")
        with graph.inserting_after(function):
            call = graph.call_function(
                checkpoint, (function, *arguments), {"use_reentrant": reentrant}
            )
        given, last = [call], call
        if len(results) > 1:
            given = []
            for place in range(len(results)):
                with graph.inserting_after(last):
                    last = graph.call_function(operator.getitem, (call, place))
                given.append(last)
        for result, outer in zip(results, given, strict=True):
            inside = set(nodes)
            result.replace_all_uses_with(outer, delete_user_cb=lambda n, i=inside: n not in i)
        for node in reversed(nodes):
            graph.erase_node(node)
    graph.lint()
    module.recompile()
    return module


def step(net: nn.Module, optimizer: torch.optim.Optimizer, sample: torch.Tensor) -> None:
    output = net(sample)
    loss = nn.functional.mse_loss(output, torch.zeros(output.shape))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def measured(case: Case, program: torch.export.ExportedProgram, reentrant: bool) -> Events:
    net = checkpointed(program.module(), case, reentrant)
    optimizer = torch.optim.SGD(net.parameters())
    sample = case.sample()
    step(net, optimizer, sample)
    return events_of(lambda: step(net, optimizer, sample))


def weighed(path: Path, options: list[str], optimizer: str = "sgd") -> Events:
    binary = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
    command = [binary, "weigh", str(path), "--format", "json", "--events", "--train", optimizer]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [event[:2] for event in json.loads(done.stdout)["memory"]["events"]]


def predicted(case: Case, path: Path, reentrant: bool) -> Events:
    patterns = [option for pattern in case.patterns for option in ("--recompute", pattern)]
    form = ["--recompute-reentrant"] if reentrant else []
    return weighed(path, ["--loss", "mse", *patterns, *form])


@pytest.mark.parametrize("reentrant", [False, True], ids=["kept_graph", "reentrant"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_step(case: Case, reentrant: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    path = tmp_path / "net.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = case.make().train()
        for name in case.frozen:
            net.get_submodule(name).requires_grad_(False)
        program = torch.export.export(net, (case.sample(),))
        torch.export.save(program, path)
        theirs = measured(case, program, reentrant)
    ours = predicted(case, path, reentrant)
    if ours != theirs:
        shown = side_by_side(*([f"{n:+} {label}" for label, n in seen] for seen in (ours, theirs)))
        pytest.fail(shown, pytrace=False)


class Marked(nn.Module):  # type: ignore[misc]
    """What export makes of a model that calls checkpoint: an operator that runs a graph."""

    TEXT = """parameter %w: f32[4,4] "w"
input %x: f32[2,4]
%y: f32[2,4] = higher_order::tag_activation_checkpoint(@g, %x, %w)
%l: f32[] = aten::sum(%y)
return %l
graph @g(%a: f32[2,4], %b: f32[4,4]) {
  %h: f32[2,4] = aten::mm(%a, %b)
  %t: f32[2,4] = aten::tanh(%h)
  %e: f32[2,4] = aten::exp(%t)
  %g: f32[2,4] = aten::add.Tensor(%e, %t)
  return %g
}
"""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4))
        graph = fx.Graph()
        a, b = graph.placeholder("a"), graph.placeholder("b")
        h = graph.call_function(torch.ops.aten.mm.default, (a, b))
        t = graph.call_function(torch.ops.aten.tanh.default, (h,))
        e = graph.call_function(torch.ops.aten.exp.default, (t,))
        graph.output((graph.call_function(torch.ops.aten.add.Tensor, (e, t)),))
        self.body = fx.GraphModule(nn.Module(), graph)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        run = torch.ops.higher_order.tag_activation_checkpoint
        loss: torch.Tensor = run(self.body, x, self.w)[0].sum()
        return loss


def test_a_region_that_the_model_marks(tmp_path: Path) -> None:
    net, x = Marked(), torch.randn(2, 4)

    def run() -> None:
        loss = net(x)
        loss.backward()
        net.zero_grad()

    run()
    path = tmp_path / "marked.syt"
    path.write_text(Marked.TEXT)
    assert by_size(weighed(path, [])) == by_size(events_of(run))


def by_size(events: Events) -> Events:
    """Events apart from those of zero_grad, which is a method of the module here."""
    return [["" if "zero_grad" in label else label, size] for label, size in events]
