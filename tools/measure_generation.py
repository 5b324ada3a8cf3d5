#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what transformers' generation does, call by call, in eager PyTorch on the CPU.

For each NAME of tests/data/hf below it writes OUT/NAME.truth.json: every allocation and free, as
[innermost operator, signed bytes], of the prompt's call, of the call after it, and of a later one,
with a DynamicCache that the caller holds; the bytes of what the cache holds after each, and the
flops that torch counts. And the same allocations of a forward pass that keeps keys and values and
gives what follows each token.

usage: measure_generation.py OUT [NAME...]
needs: torch, transformers
"""

import warnings
from pathlib import Path
from typing import Any

import torch
import transformers
from recording import counter, events_of, measure_named, save_truth

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

CONFIGS = Path(__file__).resolve().parents[1] / "tests/data/hf"
# Folder of the config, with "-beams" where it is measured with one beam too: batch, tokens of the
# prompt, tokens that are written, and beams.
MODELS: dict[str, tuple[int, int, int, int]] = {
    "mistral-a": (2, 13, 6, 1),
    "mistral-a-beams": (1, 9, 5, 2),
    "qwen2-a": (2, 4, 7, 1),
    "qwen3-a": (3, 5, 4, 1),
    "gemma-a": (2, 5, 4, 1),
    "gemma2-a": (2, 9, 5, 1),
    "gemma3_text-a": (1, 10, 5, 1),
    "gpt2-a": (2, 6, 5, 1),
    "bloom-a": (2, 6, 5, 1),
    "opt-a": (2, 5, 4, 1),
    "gpt_neox-a": (3, 6, 4, 2),
    "deepseek_v3-a": (2, 5, 4, 1),
    "phi3-a": (2, 9, 4, 1),
    "ministral-a": (2, 9, 5, 1),
    "mixtral-a": (2, 5, 4, 1),
    "qwen2_moe-a": (2, 5, 4, 1),
    "llama-a": (2, 7, 5, 1),
    "llama-b": (3, 6, 4, 2),
    "cohere-a": (2, 5, 4, 1),
    "cohere2-a": (2, 9, 5, 1),
    "glm-a": (2, 6, 4, 1),
    "glm4-a": (2, 6, 4, 1),
    "glm4_moe-a": (2, 5, 4, 1),
    "gpt_oss-a": (2, 9, 5, 1),
    "granite-a": (2, 5, 4, 1),
    "granitemoe-a": (2, 5, 4, 1),
    "arcee-a": (2, 5, 4, 1),
    "ernie4_5-a": (2, 5, 4, 1),
    "exaone4-a": (2, 9, 5, 1),
    "hunyuan_v1_dense-a": (2, 5, 4, 1),
    "olmo-a": (2, 5, 4, 1),
    "olmoe-a": (2, 5, 4, 1),
    "olmo2-a": (3, 5, 4, 1),
    "olmo3-a": (2, 9, 5, 1),
    "phi-a": (2, 6, 4, 1),
    "smollm3-c": (2, 5, 4, 1),
    "stablelm-a": (2, 6, 4, 1),
    "seed_oss-a": (2, 5, 4, 1),
    "starcoder2-a": (2, 9, 5, 1),
    "starcoder2-a-beams": (1, 4, 6, 3),
}
# Types whose scores sdpa cannot make.
EAGER = ("gemma2", "bloom", "gpt_oss")


def held(cache: Any) -> int:
    """Bytes of the storages that a cache holds on to."""
    storages = {}
    for layer in cache.layers:
        for states in (layer.keys, layer.values):
            if states is not None:
                storages[states.untyped_storage().data_ptr()] = states.untyped_storage().nbytes()
    return sum(storages.values())


class Generation:
    """A model, its cache, and the calls that generate() makes."""

    def __init__(self, name: str) -> None:
        self.batch, self.prompt, self.tokens, self.beams = MODELS[name]
        config = transformers.AutoConfig.from_pretrained(CONFIGS / name.removesuffix("-beams"))
        self.make = getattr(transformers, config.architectures[0])
        attention = "eager" if config.model_type in EAGER else "sdpa"
        config.use_cache = True
        self.model = self.make._from_config(config, attn_implementation=attention).eval()
        rows = self.batch * self.beams
        self.ids = {n: torch.zeros(rows, n, dtype=torch.long) for n in (1, self.prompt)}
        self.beam_idx = torch.zeros(rows, dtype=torch.long)
        self.start()

    def start(self) -> None:
        self.cache = transformers.DynamicCache(config=self.model.config)

    def call(self, tokens: int, keep: int = 1) -> None:
        with torch.no_grad():
            self.model(
                input_ids=self.ids[tokens],
                past_key_values=self.cache,
                use_cache=True,
                logits_to_keep=keep,
            )

    def reorder(self) -> None:
        self.cache.reorder_cache(self.beam_idx)


def measure(model: str, folder: Path) -> None:
    run = Generation(model)
    run.call(run.prompt)
    run.start()
    truth: dict[str, Any] = {
        "name": model,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "batch": run.batch,
        "prompt": run.prompt,
        "tokens": run.tokens,
        "beams": run.beams,
        "calls": {},
    }

    def step(tokens: int) -> None:
        run.call(tokens)
        if run.beams > 1:
            run.reorder()

    # PyTorch tells how much it frees only of what was allocated while it was watched.
    def record(name: str, tokens: int) -> None:
        events = events_of(lambda: step(tokens))
        truth["calls"][name] = {"events": events, "held": held(run.cache)}

    record("prompt", run.prompt)
    record("first", 1)
    for _ in range(run.tokens - 2):
        record("last", 1)
    run.start()
    for name, tokens in (("prompt", run.prompt), ("first", 1)):
        with counter() as counting:
            run.call(tokens)
        truth["calls"][name]["flops"] = counting.get_total_flops()
    run.start()
    truth["use_cache"] = {"events": events_of(lambda: run.call(run.prompt, 0))}
    save_truth(truth, folder)
    print(model, {c: len(of["events"]) for c, of in truth["calls"].items()}, flush=True)


if __name__ == "__main__":
    measure_named(measure, MODELS, __doc__)
