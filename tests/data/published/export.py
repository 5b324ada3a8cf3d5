#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models whose cost others have published, as they ran them.

usage: export.py OUT        needs torch and transformers
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import transformers

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from recording import save_structure


def bert_as_raf_ran_it() -> torch.export.ExportedProgram:
    """BERT-base MLM, batch 32, 128 tokens, inference, attention written out, an explicit mask."""
    config = transformers.BertConfig(attn_implementation="eager", use_cache=False)
    with torch.device("meta"):
        model = transformers.BertForMaskedLM(config).eval()
        inputs = {
            "input_ids": torch.zeros(32, 128, dtype=torch.long),
            "attention_mask": torch.ones(32, 128),
        }
        return torch.export.export(model, (), inputs, strict=False)


if __name__ == "__main__":
    save_structure(bert_as_raf_ran_it(), Path(sys.argv[1]) / "bert-base-eager-attn-b32-s128.pt2")
