# SPDX-License-Identifier: Apache-2.0
"""Numbers that others have published, under their own conventions."""

from __future__ import annotations

from conftest import ROOT, Weigh

# BERT-base MLM, batch 32, 128 tokens, inference, as RAF's page on model analysis has it.
BERT = ROOT / "tests/data/published/bert-base-eager-attn-b32-s128.pt2"
BATCH, TOKENS = 32, 128
RAF_FORWARD = 914_163_793_920  # printed as 914.1637796584982 GFLOP, a sum of float32
RAF_PARAMETERS = 109_514_298
RAF_MEGABYTES = 417.7638931274414
FLOP_COUNTER_FORWARD = 911_971_713_024  # torch.utils.flop_counter


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
