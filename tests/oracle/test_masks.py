# SPDX-License-Identifier: Apache-2.0
"""What masks of attention hide: of `queries` tokens that each see those before them, a window of
them, or all, counted by hand and not by any program."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from conftest import ROOT, Weigh

DATA = ROOT / "tests/data"


def hidden(queries: int, window: int | None = None) -> int:
    """Scores of one head that causality, and a window that holds a query itself, hide."""
    seen = sum(min(i + 1, window or queries) for i in range(queries))
    return queries * queries - seen


@dataclass(frozen=True)
class Model:
    batch: int
    queries: int
    heads: int
    width: int
    layers: int  # that are causal

    def flops(self) -> int:
        """Of what is hidden: two products of each score, and two operations a multiply-add."""
        scores = hidden(self.queries) * self.batch * self.heads * self.layers
        return scores * self.width * 2 * 2


MODELS = {
    "gpt2-b2-s128": Model(2, 128, 12, 64, 12),
    "gpt2-xl-b1-s1024": Model(1, 1024, 25, 64, 48),
    "llama-small-b2-s128": Model(2, 128, 8, 64, 6),
    "llama3-8b-b1-s2048": Model(1, 2048, 32, 128, 32),
    "mixtral-8x7b-b1-s512": Model(1, 512, 32, 128, 32),
    "t5-small-b2-s64": Model(2, 64, 8, 64, 6),  # its decoder's own attention
    "bert-base-mlm-b4-s128": Model(4, 128, 12, 64, 0),
    "vit-b16-b2": Model(2, 197, 12, 64, 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_forward(name: str, weigh: Weigh) -> None:
    report = weigh(DATA / "models" / f"{name}.pt2")
    lost = report["flops"]["forward"] - report["flops_masked"]["forward"]
    assert lost == MODELS[name].flops()


# Scores that dropout or eager attention keeps: two products forward, four backward; the fused
# kernel computes the scores once more.
@pytest.mark.parametrize(
    ("name", "products"), [("gpt2-b2-s128", 4), ("t5-small-b2-s64", 4), ("llama-small-b2-s128", 5)]
)
def test_backward(name: str, products: int, weigh: Weigh) -> None:
    report = weigh(DATA / "models" / f"{name}.pt2", "--train", "sgd")
    lost = report["flops"]["backward"] - report["flops_masked"]["backward"]
    assert lost * 2 == MODELS[name].flops() * products


@pytest.mark.parametrize(
    ("name", "attention"),
    [
        ("gemma2-a", "eager"),
        ("gemma3_text-a", "sdpa"),
        ("gemma3_text-a", "eager"),
        ("qwen2-a", "sdpa"),
    ],
)
def test_windows(name: str, attention: str, weigh: Weigh) -> None:
    path = DATA / "hf" / name / "config.json"
    config = json.loads(path.read_text())
    queries = 16
    report = weigh(path, "--batch", "2", "--seq", str(queries), "--attention", attention)
    width = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    scores = sum(
        hidden(queries, config["sliding_window"] if kind == "sliding_attention" else None)
        for kind in config["layer_types"]
    )
    lost = report["flops"]["forward"] - report["flops_masked"]["forward"]
    assert lost == scores * 2 * config["num_attention_heads"] * width * 2 * 2
