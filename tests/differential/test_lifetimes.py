# SPDX-License-Identifier: Apache-2.0
"""Several operators one after the other, as torch.export writes them down: what lives how long
between them, which a call of one alone does not show."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from calls import Tensor
from compare import Events, Extent, events_difference
from recorder import events_of, filled, isolated
from table import weigh

aten = torch.ops.aten
Leaves = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Example:
    """A program whose parameters %p0, %p1, ... give a loss, and the same in Python."""

    parameters: tuple[tuple[int, ...], ...]
    lines: str
    loss: Callable[[Leaves], torch.Tensor]


def of_sgn(p: Leaves) -> torch.Tensor:
    h = aten.sin(p[0])
    g = aten.sgn(h)
    del h
    return aten.mean(g)


def of_sgn_and_square(p: Leaves) -> torch.Tensor:
    h = aten.sin(p[0])
    g = aten.sgn(h)
    s = aten.mul(h, h)
    del h
    y = aten.add(g, s)
    del g, s
    return aten.mean(y)


def of_unused_bags(p: Leaves) -> torch.Tensor:
    offsets = aten.arange(0, 64, 16)
    places = aten.zeros([64], dtype=torch.int64)
    results = aten.embedding_bag(p[0], places, offsets, False, 1)
    del places, offsets
    last = results[3]
    del results
    del last
    return aten.mean(p[1])


def of_unused_norm(p: Leaves) -> torch.Tensor:
    image = aten.sin(p[0])
    norm = aten.instance_norm(image, p[1], p[2], None, None, True, 0.1, 1e-5, True)
    del image, norm
    return aten.mean(p[1])


def of_quantile_and_view(p: Leaves) -> torch.Tensor:
    q = aten.quantile(p[0], 0.5, -2)
    v = aten.view(p[0], [320])
    a = aten.sum(q)
    del q
    b = aten.mean(v)
    del v
    y = aten.add(a, b)
    del a, b
    return y


EXAMPLES = {
    "zeros that are not stored, times a tensor": Example(
        ((16, 16),), "%h = aten::sin(%p0)\n%g = aten::sgn(%h)\n%loss = aten::mean(%g)", of_sgn
    ),
    "such zeros added to a gradient": Example(
        ((16, 16),),
        "%h = aten::sin(%p0)\n%g = aten::sgn(%h)\n%s = aten::mul.Tensor(%h, %h)\n"
        "%y = aten::add.Tensor(%g, %s)\n%loss = aten::mean(%y)",
        of_sgn_and_square,
    ),
    "results that nobody uses": Example(
        ((50, 16), (16, 16)),
        "%offsets = aten::arange.start_step(0, 64, 16)\n%places = aten::zeros([64], dtype=i64)\n"
        "%v, %b, %s, %t = aten::embedding_bag(%p0, %places, %offsets, False, 1)\n"
        "%loss = aten::mean(%p1)",
        of_unused_bags,
    ),
    "a view of a result that nobody uses": Example(
        ((2, 3, 8, 8), (3,), (3,)),
        "%image = aten::sin(%p0)\n"
        "%y = aten::instance_norm(%image, %p1, %p2, None, None, True, 0.1, 1e-5, True)\n"
        "%loss = aten::mean(%p1)",
        of_unused_norm,
    ),
    "gradients that arrive from two sides": Example(
        ((20, 16),),
        "%q = aten::quantile.scalar(%p0, 0.5, -2)\n%v = aten::view(%p0, [320])\n"
        "%a = aten::sum(%q)\n%b = aten::mean(%v)\n%loss = aten::add.Tensor(%a, %b)",
        of_quantile_and_view,
    ),
}


def program_of(example: Example) -> str:
    declared = [
        f"parameter %p{i}: {Tensor.contiguous('f32', sizes)}"
        for i, sizes in enumerate(example.parameters)
    ]
    ends = ["steelyard::backward(%loss) phase backward", "return %loss"]
    return "\t".join([*declared, *example.lines.split("\n"), *ends])


def observed(name: str) -> Events:
    """What PyTorch allocates and frees in the second step, whose gradients are new."""
    example = EXAMPLES[name]
    tensors = [filled(Tensor.contiguous("f32", sizes), 1) for sizes in example.parameters]
    parameters = tuple(tensor.requires_grad_(True) for tensor in tensors)

    def step() -> None:
        loss = example.loss(parameters)
        loss.backward()

    step()
    for parameter in parameters:
        parameter.grad = None
    return events_of(step)


@pytest.mark.parametrize("name", EXAMPLES)
def test_lifetimes(name: str) -> None:
    ours = weigh([program_of(EXAMPLES[name])], "--steps")[0]
    found = events_difference(ours, {"events": isolated(observed, name)}, Extent.ALL)
    if found is not None:
        pytest.fail(found, pytrace=False)
