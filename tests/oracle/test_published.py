# SPDX-License-Identifier: Apache-2.0
"""Numbers that others have published, under their own conventions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Weigh

# BERT-base MLM, batch 32, 128 tokens, inference, as RAF's page on model analysis has it.
BERT = ROOT / "tests/data/published/bert-base-eager-attn-b32-s128.pt2"
BATCH, TOKENS = 32, 128
RAF_FORWARD = 914_163_793_920  # printed as 914.1637796584982 GFLOP, a sum of float32
RAF_PARAMETERS = 109_514_298
RAF_MEGABYTES = 417.7638931274414
FLOP_COUNTER_FORWARD = 911_971_713_024  # torch.utils.flop_counter


# DeepSpeed's flops profiler, version 0.19.8, run on the same networks with the same batches, in
# training mode: (flops, MACs). Of vit, the measured ones for one image twice.
DEEPSPEED = {
    "resnet50-b4": (32_977_801_216, 16_356_737_024),
    "mobilenetv2-b4": (2_540_007_296, 1_203_097_088),
    "vit-b16-b2": (2 * 35_153_981_184, 2 * 17_563_828_224),
}

LENET5 = """
input %x: f32[1024,1,32,32]
parameter %w1: f32[6,1,5,5] "c1.weight"
parameter %b1: f32[6] "c1.bias"
parameter %w2: f32[16,6,5,5] "c2.weight"
parameter %b2: f32[16] "c2.bias"
parameter %w3: f32[120,16,5,5] "c3.weight"
parameter %b3: f32[120] "c3.bias"
parameter %w4: f32[84,120] "f1.weight"
parameter %b4: f32[84] "f1.bias"
parameter %w5: f32[10,84] "f2.weight"
parameter %b5: f32[10] "f2.bias"
%c1: f32[1024,6,28,28] = aten::conv2d(%x, %w1, %b1)
%t1: f32[1024,6,28,28] = aten::tanh(%c1)
%p1: f32[1024,6,14,14] = aten::avg_pool2d(%t1, [2,2])
%c2: f32[1024,16,10,10] = aten::conv2d(%p1, %w2, %b2)
%t2: f32[1024,16,10,10] = aten::tanh(%c2)
%p2: f32[1024,16,5,5] = aten::avg_pool2d(%t2, [2,2])
%c3: f32[1024,120,1,1] = aten::conv2d(%p2, %w3, %b3)
%t3: f32[1024,120,1,1] = aten::tanh(%c3)
%v: f32[1024,120] = aten::view(%t3, [1024,120])
%l1: f32[1024,84] = aten::linear(%v, %w4, %b4)
%t4: f32[1024,84] = aten::tanh(%l1)
%l2: f32[1024,10] = aten::linear(%t4, %w5, %b5)
%y: f32[1024,10] = aten::softmax.int(%l2, 1)
return %l2, %y
"""


def transformer(tokens: int, layers: list[tuple[int, int]], scores: list[int]) -> str:
    """A program with a linear layer for each pair of sizes and a softmax of each size."""
    lines = []
    for i, (rows, inputs, outputs) in enumerate((tokens, *pair) for pair in layers):
        lines += [
            f"input %x{i}: f32[{rows},{inputs}]",
            f'parameter %w{i}: f32[{outputs},{inputs}] "w{i}"',
        ]
    lines += [f"input %s{i}: f32[{size}]" for i, size in enumerate(scores)]
    for i, (_, outputs) in enumerate(layers):
        lines.append(f"%y{i}: f32[{tokens},{outputs}] = aten::linear(%x{i}, %w{i})")
    for i, size in enumerate(scores):
        lines.append(f"%p{i}: f32[{size}] = aten::softmax.int(%s{i}, 0)")
    return "\n".join([*lines, "return %y0", ""])


def counted(weigh: Weigh, tmp_path: Path, program: str, convention: str) -> dict[str, Any]:
    path = tmp_path / f"program{len(list(tmp_path.iterdir()))}.syt"  # a name is weighed once
    path.write_text(program)
    found: dict[str, Any] = weigh(path, "--count", convention)["convention"]
    return found


def test_lenet5_as_deepspeeds_own_test_has_it(weigh: Weigh, tmp_path: Path) -> None:
    convention = counted(weigh, tmp_path, LENET5, "deepspeed")
    assert convention["forward"] == 426_516_480
    assert convention["beside"]["forward"] == 866_076_672


@pytest.mark.parametrize("model", DEEPSPEED)
def test_real_networks_as_deepspeed_counts_them(weigh: Weigh, model: str) -> None:
    convention = weigh(ROOT / f"tests/data/models/{model}.pt2", "--count", "deepspeed")[
        "convention"
    ]
    assert (convention["beside"]["forward"], convention["forward"]) == DEEPSPEED[model]


def test_bert_large_as_deepspeeds_tutorial_has_it(weigh: Weigh, tmp_path: Path) -> None:
    # Batch 80 of 128 tokens; a vocabulary of 30528, 1159 masked tokens (profiler's page: 3139.93
    # GMACs). The layers and the head's transform are of all tokens, its decoder of the masked ones.
    tokens, hidden = 80 * 128, 1024
    layer = [(hidden, hidden)] * 4 + [(hidden, 4 * hidden), (4 * hidden, hidden)]
    softmax = 80 * 16 * 128 * 128
    body = counted(weigh, tmp_path, transformer(tokens, layer, [softmax]), "deepspeed-2021")
    pooler = counted(weigh, tmp_path, transformer(80, [(hidden, hidden)], []), "deepspeed-2021")
    head = counted(weigh, tmp_path, transformer(tokens, [(hidden, hidden)], []), "deepspeed-2021")
    decoder = transformer(1159, [(hidden, 30528)], [])
    masked = counted(weigh, tmp_path, decoder, "deepspeed-2021")
    total = 24 * body["forward"] + pooler["forward"] + head["forward"] + masked["forward"]
    assert round(total / 1e9, 2) == 3139.93
    assert body["left_out_macs"] == 0, "what it leaves out are products of two activations"


def test_megatron_as_deepspeeds_tutorial_has_it(weigh: Weigh, tmp_path: Path) -> None:
    # 12 layers of 8192, 32 heads, 1024 tokens in micro-batches of 4, a vocabulary of 50304:
    # 41271.95 GMACs.
    tokens, hidden = 4 * 1024, 8192
    layer = [(hidden, 3 * hidden), (hidden, hidden), (hidden, 4 * hidden), (4 * hidden, hidden)]
    softmax = 4 * 32 * 1024 * 1024
    body = counted(weigh, tmp_path, transformer(tokens, layer, [softmax]), "deepspeed-2021")
    head = counted(weigh, tmp_path, transformer(tokens, [(hidden, 50304)], []), "deepspeed-2021")
    assert round((12 * body["forward"] + head["forward"]) / 1e9, 2) == 41271.95


def test_parameters(weigh: Weigh) -> None:
    parameters = weigh(BERT)["parameters"]
    assert parameters["count"] == RAF_PARAMETERS
    assert parameters["bytes"] / 2**20 == RAF_MEGABYTES


def test_contractions(weigh: Weigh) -> None:
    assert weigh(BERT)["flops"]["forward"] == FLOP_COUNTER_FORWARD


def test_work_in_rafs_convention(weigh: Weigh) -> None:
    # transformers 5 makes the mask from positions inside the graph, where RAF had a constant: two
    # logical ands, of the rows' positions and of all pairs, and two additions to positions.
    mask = TOKENS + BATCH * TOKENS * TOKENS + 2 * TOKENS
    convention = weigh(BERT, "--count", "raf")["convention"]
    assert convention["name"] == "raf"
    assert convention["forward"] == RAF_FORWARD + mask
