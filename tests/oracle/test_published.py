# SPDX-License-Identifier: Apache-2.0
"""Numbers that others have published, under their own conventions."""

from __future__ import annotations

import json
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


# RAF's page on model analysis: BERT-base MLM in its own operators, in tests/data/published.
# T rows of H = 768 numbers take X bytes; scores of the heads take A, the inner layer F, logits L.
RAF = ROOT / "tests/data/published"
LAYERS, HIDDEN, HEADS, INNER, VOCABULARY = 12, 768, 12, 3072, 30522
MIB = 2**20
POSITIONS = 512 * 8  # int64, a buffer


def rows_of(batch: int, tokens: int, size: int) -> int:
    return batch * tokens * size * 4


X, F = rows_of(BATCH, TOKENS, HIDDEN), rows_of(BATCH, TOKENS, INNER)
L, A = rows_of(BATCH, TOKENS, VOCABULARY), BATCH * HEADS * TOKENS * TOKENS * 4
IDS = BATCH * TOKENS * 8
WEIGHTS = RAF_PARAMETERS * 4
TABLE = VOCABULARY * HIDDEN * 4  # the word embeddings, which are the decoder too


def trace_of(weigh: Weigh, program: str, *arguments: str) -> tuple[dict[str, Any], list[Any]]:
    report = weigh(RAF / program, "--runtime", "graph", "--table", "kernels", *arguments)
    return report["memory"], report["kernels"]


# What is alive at each of a layer's 18 kernels, besides what is resident. Products are written
# before what reads them makes something else of them, so both are there.
LAYER = [
    2 * X,  # the layer's input, and the product of the query
    3 * X,  # that, and the query's heads
    3 * X,  # input, query, the product of the key
    4 * X,  # and the key's heads
    3 * X + A,  # input, query, key, scores
    X + 2 * A,  # input, scores, weights
    2 * X + A,  # input, weights, the product of the value
    3 * X + A,  # and the value's heads
    3 * X + A,  # input, weights, value, context
    3 * X,  # input, context by heads and by rows
    3 * X,  # input, context, its product
    3 * X,  # input, product, their sum
    2 * X,  # sum, its norm
    X + F,  # norm, inner product
    X + 2 * F,  # and its gelu
    2 * X + F,  # norm, gelu, outer product
    3 * X,  # norm, product, their sum
    2 * X,  # sum, its norm
]


def test_forward_trace_of_raf(weigh: Weigh) -> None:
    memory, kernels = trace_of(weigh, "raf-bert-base-b32-s128.syt")
    resident = WEIGHTS + IDS + POSITIONS
    head = [2 * X, 2 * X, 2 * X, X + L, 2 * L, L]  # the last is what remains
    alive = [X, 2 * X, *LAYER * LAYERS, *head]
    assert [kernel["bytes"] for kernel in kernels] == [resident + held for held in alive]
    assert memory["peak"] == 1_438_238_952 == memory["graph"]["bound"]
    assert memory["graph"]["bindings"] == 1833, "as RAF's progress counts them"


def test_forward_trace_of_raf_in_32_bits(weigh: Weigh) -> None:
    memory, kernels = trace_of(weigh, "raf-bert-base-b32-s128.syt")
    printed = [(kernel["kernel"], kernel["megabytes"]) for kernel in kernels]
    # RAF's trace has an integer's cast among the embeddings, which torch.jit's has not any more.
    assert printed[0] == (
        "fused_embedding_embedding_add_strided_slice_embedding_add",
        429.7990417480469,
    )
    assert printed[1] == ("layer_norm", 441.7990417480469)
    assert memory["graph"]["peak_megabytes"] == 1371.611572265625 != memory["peak"] / MIB
    assert printed[-1] == ("out", 894.705322265625)


def test_parameters_of_raf(weigh: Weigh) -> None:
    for program, count in (("base-b32-s128", RAF_PARAMETERS), ("1-layer-b8-s128-sgd", 31_547_706)):
        found = weigh(RAF / f"raf-bert-{program}.syt", "--runtime", "graph")["parameters"]
        assert found["count"] == count
    assert RAF_PARAMETERS * 4 / MIB == RAF_MEGABYTES


def test_work_of_raf(weigh: Weigh) -> None:
    report = weigh(
        RAF / "raf-bert-base-b32-s128.syt",
        *("--runtime", "graph", "--table", "kernels", "--count", "raf"),
    )
    assert report["convention"]["forward"] == RAF_FORWARD
    assert report["convention"]["printed_gflops"] == 914.1637796584982
    assert report["flops"]["forward"] == FLOP_COUNTER_FORWARD


def test_training_of_raf(weigh: Weigh) -> None:
    memory, kernels = trace_of(weigh, "raf-bert-base-b32-s128-sgd.syt")
    # Parameters and a velocity for each, ids and labels, three scalars: the gradient of the loss,
    # the learning rate and the momentum.
    resident = 2 * WEIGHTS + 2 * IDS + POSITIONS + 3 * 4
    # At the gradient of the tied table: 25 tensors of X bytes in each layer and 6 more, the logits'
    # gradient in two shapes, both gradients of the table, two of each norm's vectors (two norms in
    # a layer, one of the embeddings and one of the head), a slice of the positions, the loss.
    norms = 2 * LAYERS + 2
    held = (25 * LAYERS + 6) * X + 2 * L + 2 * TABLE + norms * 2 * HIDDEN * 4 + TOKENS * 8 + 4
    assert memory["resident"] == resident
    assert memory["peak"] == resident + held == 5_914_387_936
    assert memory["graph"]["peak_megabytes"] == 5640.39990234375
    assert (memory["graph"]["kernels"], memory["graph"]["bindings"]) == (1129, 8066)
    highest = max(range(len(kernels)), key=lambda i: int(kernels[i]["bytes"]))
    assert (highest, kernels[highest]["kernel"]) == (574, "matmul_tn_add")


def test_training_of_one_layer_of_raf(weigh: Weigh) -> None:
    memory, _ = trace_of(weigh, "raf-bert-1-layer-b8-s128-sgd.syt")
    assert memory["graph"]["peak_megabytes"] == 751.02685546875
    assert memory["peak"] == 787_508_704
    assert (memory["graph"]["kernels"], memory["graph"]["bindings"]) == (139, 993)


def test_autocast_of_one_layer_of_raf(weigh: Weigh) -> None:
    # RAF's page on mixed precision: 701.22900390625 MB after autocast to float16. The 57 casts and
    # 735,291,872 bytes are of the study of RAF's passes, which reproduces that number.
    amp = ("--amp", "fp16", "--amp-policy", "raf")
    report = weigh(RAF / "raf-bert-1-layer-b8-s128-sgd.syt", "--runtime", "graph", *amp)
    memory, casts = report["memory"], report["precision"]["casts"]
    assert sum(group["casts"] for group in casts) == 57
    assert memory["graph"]["peak_megabytes"] == 701.22900390625
    assert (memory["graph"]["kernels"], memory["graph"]["bindings"]) == (154, 1108)
    # At the gradient of log_softmax there are: parameters and velocities, ids and labels, positions
    # and three scalars; what log_softmax gave in float32, its gradient and the logits';
    rows = 8 * 128
    resident = 2 * 31_547_706 * 4 + 2 * rows * 8 + POSITIONS + 3 * 4
    logits = 3 * rows * VOCABULARY * 4
    # copies in float16 of the weights of all products: five of the hidden size squared (query, key,
    # value, output, the head's), two of the inner layer, the tied table;
    copies = 2 * (5 * HIDDEN**2 + 2 * HIDDEN * INNER + VOCABULARY * HIDDEN)
    # and what the backward pass reads, in bytes for each number of a row. In float32 the sum of the
    # embeddings, the attention weights (2 x as many as a row's numbers) and gelu's of the head; in
    # float16 copies of them and of the two norms' (embeddings, head), query, key, value, context,
    # two sums, two norms, the inner layer before and after gelu (4 x), the head before it.
    wide = 4 * (1 + 2 + 1)
    low = 2 * (2 + 2 + 3 + 1 + 2 + 2 + 4 + 4 + 1)
    saved = (wide + low) * rows * HIDDEN
    # A slice of the positions, the loss, a sum for each row.
    small = TOKENS * 8 + 4 + rows * 4
    assert memory["peak"] == resident + logits + copies + saved + small == 735_291_872


def test_autocast_of_raf_keeps_what_it_trains_in_float32(weigh: Weigh) -> None:
    program = RAF / "raf-bert-1-layer-b8-s128-sgd.syt"
    wide = weigh(program, "--runtime", "graph")
    low = weigh(program, "--runtime", "graph", "--amp", "fp16", "--amp-policy", "raf")
    assert low["memory"]["resident"] == wide["memory"]["resident"]
    assert low["parameters"] == wide["parameters"]
    assert low["memory"]["peak"] < wide["memory"]["peak"]


def test_an_order_for_memory_needs_less(weigh: Weigh) -> None:
    written, _ = trace_of(weigh, "raf-bert-base-b32-s128-sgd.syt")
    ordered, _ = trace_of(weigh, "raf-bert-base-b32-s128-sgd.syt", "--schedule", "memory")
    # No kernel needs both gradients of the logits and all the layers' signals; the gradients of the
    # weights are taken as soon as they can be, and 9 X of each layer's signals need not wait.
    assert ordered["graph"]["bound"] <= ordered["peak"] < written["peak"] - 4 * LAYERS * X


# Models on the Hub: how many parameters their pages state, and what of their configs is no default.
HUB: dict[str, tuple[int, dict[str, Any]]] = {
    "google-t5/t5-small": (60_506_624, {"model_type": "t5"}),
    "google/flan-t5-base": (
        247_577_856,
        {
            "model_type": "t5",
            "d_model": 768,
            "num_layers": 12,
            "num_heads": 12,
            "feed_forward_proj": "gated-gelu",
            "tie_word_embeddings": False,
        },
    ),
    "facebook/bart-base": (
        139_420_416,
        {
            "model_type": "bart",
            "architectures": ["BartModel"],
            "d_model": 768,
            **{
                f"{side}_{key}": value
                for side in ("encoder", "decoder")
                for key, value in {"layers": 6, "attention_heads": 12, "ffn_dim": 3072}.items()
            },
        },
    ),
    "answerdotai/ModernBERT-base": (
        149_655_232,
        {"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"]},
    ),
    "microsoft/deberta-v3-base": (
        183_831_552,
        {
            "model_type": "deberta-v2",
            "hidden_size": 768,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
            "relative_attention": True,
            "position_buckets": 256,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": "p2c|c2p",
            "position_biased_input": False,
        },
    ),
    "mistralai/Mamba-Codestral-7B-v0.1": (7_285_403_648, {"model_type": "mamba2"}),
    "openai/whisper-tiny": (37_760_640, {"model_type": "whisper"}),
    "openai/whisper-large-v3": (
        1_543_490_560,
        {
            "model_type": "whisper",
            "d_model": 1280,
            "num_mel_bins": 128,
            "vocab_size": 51866,
            **{
                f"{side}_{key}": value
                for side in ("encoder", "decoder")
                for key, value in {"layers": 32, "attention_heads": 20, "ffn_dim": 5120}.items()
            },
        },
    ),
}


@pytest.mark.parametrize("model", HUB)
def test_models_of_the_hub_have_as_many_parameters_as_it_says(
    weigh: Weigh, tmp_path: Path, model: str
) -> None:
    count, config = HUB[model]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert weigh(path)["parameters"]["count"] == count
