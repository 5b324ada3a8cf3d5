#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes BERT's masked language model as RAF has it, in the text form of programs.

usage: make_raf_bert.py OUT        writes the programs of the published numbers into that folder

RAF takes the network from torch.jit's trace: linear layers are products of matrices with a reshape
before the bias, heads are transposed by copies, positions are a slice of a buffer, the mask and the
token types are constants. Its training function is given the gradient of the loss, the token ids
and the labels, then the parameters; SGD keeps a velocity for each, and has its learning rate and
momentum in tensors.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

HIDDEN, HEADS, INNER, VOCABULARY, POSITIONS, TYPES = 768, 12, 3072, 30522, 512, 2


@dataclass
class Program:
    layers: int
    batch: int
    tokens: int
    inputs: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return self.batch * self.tokens

    def parameter(self, name: str, *sizes: int) -> str:
        value = f"%p{len(self.parameters)}"
        self.parameters.append(f'parameter {value}: f32[{listed(sizes)}] "{name}"')
        self.names.append(value)
        return value

    def call(self, op: str, *arguments: str) -> str:
        value = f"%v{len(self.calls)}"
        self.calls.append(f"{value} = raf::{op}({', '.join(arguments)})")
        return value

    def reshape(self, value: str, *sizes: int) -> str:
        return self.call("reshape", value, f"[{listed(sizes)}]")

    def linear(self, rows: str, name: str, outputs: int, inputs: int, weight: str = "") -> str:
        weight = weight or self.parameter(f"{name}.weight", outputs, inputs)
        product = self.call("matmul_nt", rows, weight)
        whole = self.reshape(product, self.batch, self.tokens, outputs)
        return self.call("bias_add", whole, self.parameter(f"{name}.bias", outputs))

    def layer_norm(self, value: str, name: str) -> str:
        scale = self.parameter(f"{name}.weight", HIDDEN)
        return self.call("layer_norm", value, scale, self.parameter(f"{name}.bias", HIDDEN))


def listed(sizes: tuple[int, ...]) -> str:
    return ",".join(str(size) for size in sizes)


def embeddings(p: Program) -> tuple[str, str]:
    prefix = "bert.embeddings."
    words = p.parameter(prefix + "word_embeddings.weight", VOCABULARY, HIDDEN)
    word = p.call("embedding", words, "%input_ids")
    types = p.parameter(prefix + "token_type_embeddings.weight", TYPES, HIDDEN)
    zeros = p.call("constant", f"[{p.batch},{p.tokens}]", "i64")
    summed = p.call("add", word, p.call("embedding", types, zeros))
    positions = p.parameter(prefix + "position_embeddings.weight", POSITIONS, HIDDEN)
    where = p.call("strided_slice", "%position_ids", "[0,0]", f"[1,{p.tokens}]", "[1,1]")
    summed = p.call("add", summed, p.call("embedding", positions, where))
    return words, p.layer_norm(summed, prefix + "LayerNorm")


def head(p: Program, rows: str, name: str, *, last_is_tokens: bool) -> str:
    """A projection, as one matrix per head: [tokens, size], or [size, tokens]."""
    size = HIDDEN // HEADS
    whole = p.linear(rows, name, HIDDEN, HIDDEN)
    split = p.reshape(whole, p.batch, p.tokens, HEADS, size)
    turned = p.call("transpose", split, "[0,2,3,1]" if last_is_tokens else "[0,2,1,3]")
    sizes = (size, p.tokens) if last_is_tokens else (p.tokens, size)
    return p.reshape(turned, p.batch * HEADS, *sizes)


def attention(p: Program, rows: str, name: str) -> str:
    size = HIDDEN // HEADS
    query = head(p, rows, name + "self.query", last_is_tokens=False)
    key = head(p, rows, name + "self.key", last_is_tokens=False)
    scores = p.call("batch_matmul_nt", query, key)
    scores = p.reshape(scores, p.batch, HEADS, p.tokens, p.tokens)
    scores = p.call("divide", scores, p.call("constant", "[]", "f32"))
    mask = p.call("constant", f"[{p.batch},1,1,{p.tokens}]", "f32")
    weights = p.call("softmax", p.call("add", scores, mask))
    weights = p.reshape(weights, p.batch * HEADS, p.tokens, p.tokens)
    value = head(p, rows, name + "self.value", last_is_tokens=True)
    context = p.call("batch_matmul_nt", weights, value)
    context = p.reshape(context, p.batch, HEADS, p.tokens, size)
    context = p.call("transpose", context, "[0,2,1,3]")
    context = p.reshape(context, p.rows, HIDDEN)
    return p.linear(context, name + "output.dense", HIDDEN, HIDDEN)


def layer(p: Program, value: str, number: int) -> str:
    name = f"bert.encoder.layer.{number}."
    attended = attention(p, p.reshape(value, p.rows, HIDDEN), name + "attention.")
    value = p.layer_norm(p.call("add", attended, value), name + "attention.output.LayerNorm")
    inner = p.linear(p.reshape(value, p.rows, HIDDEN), name + "intermediate.dense", INNER, HIDDEN)
    inner = p.reshape(p.call("gelu", inner), p.rows, INNER)
    outer = p.linear(inner, name + "output.dense", HIDDEN, INNER)
    return p.layer_norm(p.call("add", outer, value), name + "output.LayerNorm")


def forward(p: Program) -> str:
    words, value = embeddings(p)
    for number in range(p.layers):
        value = layer(p, value, number)
    transform = "cls.predictions.transform."
    rows = p.reshape(value, p.rows, HIDDEN)
    value = p.call("gelu", p.linear(rows, transform + "dense", HIDDEN, HIDDEN))
    value = p.layer_norm(value, transform + "LayerNorm")
    rows = p.reshape(value, p.rows, HIDDEN)
    return p.linear(rows, "cls.predictions.decoder", VOCABULARY, HIDDEN, weight=words)


def written(p: Program, name: str, result: str) -> str:
    buffer = f'buffer %position_ids: i64[1,{POSITIONS}] "bert.embeddings.position_ids"'
    head_lines = [f"program {name}", "ties_known", *p.inputs, buffer, *p.parameters]
    return "\n".join([*head_lines, *p.calls, f"return {result}", ""])


def inference(layers: int, batch: int, tokens: int) -> str:
    p = Program(layers, batch, tokens)
    p.inputs.append(f"input %input_ids: i64[{batch},{tokens}]")
    return written(p, "BertForMaskedLM", forward(p))


def training(layers: int, batch: int, tokens: int) -> str:
    p = Program(layers, batch, tokens)
    p.inputs += [
        "input %dy: f32[]",
        f"input %input_ids: i64[{batch},{tokens}]",
        f"input %labels: i64[{p.rows}]",
        "input %learning_rate: f32[]",
        "input %momentum: f32[]",
    ]
    scores = p.reshape(forward(p), p.rows, VOCABULARY)
    loss = p.call("nll_loss", "%labels", p.call("log_softmax", scores))
    p.calls[-1] += " phase loss"
    p.calls.append(f"steelyard::backward({loss}, %dy) phase backward")
    parameters = ", ".join(p.names)
    p.calls.append(f"raf::sgd([{parameters}], %learning_rate, %momentum) phase optimizer")
    return written(p, "BertForMaskedLM", loss)


PROGRAMS = {
    "raf-bert-base-b32-s128.syt": inference(12, 32, 128),
    "raf-bert-base-b32-s128-sgd.syt": training(12, 32, 128),
    "raf-bert-1-layer-b8-s128-sgd.syt": training(1, 8, 128),
}

if __name__ == "__main__":
    for file_name, text in PROGRAMS.items():
        (Path(sys.argv[1]) / file_name).write_text(text)
