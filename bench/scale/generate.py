#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a residual network with as many operators as asked for, in the text form.

usage: generate.py NODES FILE

A block is a normalization, two linear layers, views, a gate and a residual sum: twelve operators in
a module with two children, and six parameters, about as many to an operator as in a transformer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

TOKENS, WIDTH, INNER = 128, 64, 256
HEADS = 4
PER_BLOCK = 12


def write_tables(out: TextIO, blocks: int) -> None:
    out.write('module "": bench.Network\nmodule layer: torch.nn.modules.container.ModuleList\n')
    for i in range(blocks):
        out.write(f"module layer.{i}: bench.Block\n")
        out.write(f"module layer.{i}.up: torch.nn.modules.linear.Linear\n")
        out.write(f"module layer.{i}.down: torch.nn.modules.linear.Linear\n")
    for i in range(blocks):
        for name, shape in (
            ("gain", f"{WIDTH}"),
            ("shift", f"{WIDTH}"),
            ("up.weight", f"{INNER},{WIDTH}"),
            ("up.bias", f"{INNER}"),
            ("down.weight", f"{WIDTH},{INNER}"),
            ("down.bias", f"{WIDTH}"),
        ):
            value = name.replace(".", "_")
            out.write(f'parameter %{value}_{i}: f32[{shape}] "layer.{i}.{name}"\n')


def write_block(out: TextIO, i: int) -> None:
    x, here, weights = f"%x_{i}", f"layer.{i}", f"%down_weight_{i}, %down_bias_{i}"
    wide, narrow = f"f32[{TOKENS},{INNER}]", f"f32[{TOKENS},{WIDTH}]"
    each = INNER // HEADS
    out.write(
        f"%n_{i}: {narrow} = aten::layer_norm({x}, [{WIDTH}], %gain_{i}, %shift_{i}) in {here}\n"
        f"%u_{i}: {wide} = aten::linear(%n_{i}, %up_weight_{i}, %up_bias_{i}) in {here}.up\n"
        f"%h_{i} = aten::view(%u_{i}, [{TOKENS},{HEADS},{each}]) in {here}\n"
        f"%t_{i} = aten::transpose.int(%h_{i}, 0, 1) in {here}\n"
        f"%s_{i} = aten::softmax.int(%t_{i}, -1) in {here}\n"
        f"%b_{i} = aten::transpose.int(%s_{i}, 0, 1) in {here}\n"
        f"%f_{i}: {wide} = aten::reshape(%b_{i}, [{TOKENS},{INNER}]) in {here}\n"
        f"%a_{i}: {wide} = aten::gelu(%f_{i}) in {here}\n"
        f"%g_{i}: {wide} = aten::mul.Tensor(%a_{i}, %u_{i}) in {here}\n"
        f"%d_{i}: {narrow} = aten::linear(%g_{i}, {weights}) in {here}.down\n"
        f"%r_{i}: {narrow} = aten::relu(%d_{i}) in {here}\n"
        f"%x_{i + 1}: {narrow} = aten::add.Tensor({x}, %r_{i}) in {here}\n"
    )


def generate(nodes: int, path: Path) -> None:
    blocks = max(1, nodes // PER_BLOCK)
    with path.open("w") as out:
        write_tables(out, blocks)
        out.write(f"input %x_0: f32[{TOKENS},{WIDTH}]\n")
        for i in range(blocks):
            write_block(out, i)
        out.write(f"return %x_{blocks}\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    generate(int(sys.argv[1]), Path(sys.argv[2]))
