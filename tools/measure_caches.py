#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many bytes transformers' caches hold that are stored in other ways than as they are.

For each model of tests/data/hf below it writes to FILE, for a StaticCache and the QuantizedCaches
of each backend, the bytes of all storages that the cache leads to: after the prompt's call, after
the one behind it and after the last; or why transformers refuses it.

usage: measure_caches.py FILE
needs: torch, transformers, optimum-quanto, hqq
"""

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import QuantizedCache, StaticCache

warnings.filterwarnings("ignore")

CONFIGS = Path(__file__).resolve().parents[1] / "tests/data/hf"
MODELS = ("llama-a", "qwen3-a", "mistral-a", "gemma2-a", "gemma3_text-a", "deepseek_v3-a")
BATCH = 2
# Tokens of the prompt and of all that are written: beyond windows, beyond the tokens kept whole.
LENGTHS = ((4, 3), (20, 6))
LONG_LENGTHS = ((64, 4), (64, 140))
# What Steelyard calls it, the backend, its bits, and the axis, of which each allows others.
QUANTISED = (
    ("int4", "quanto", 4, 0),
    ("int2", "quanto", 2, 0),
    ("int8", "hqq", 8, 1),
    ("int4", "hqq", 4, 1),
    ("int2", "hqq", 2, 1),
)
PARTS = ("keys", "values", "_quantized_keys", "_quantized_values")


def tensors_of(held: Any) -> Iterator[torch.Tensor]:
    """All plain tensors that something leads to."""
    if isinstance(held, torch.Tensor) and hasattr(held, "__tensor_flatten__"):
        for name in held.__tensor_flatten__()[0]:
            yield from tensors_of(getattr(held, name))
    elif isinstance(held, torch.Tensor):
        yield held
    elif isinstance(held, dict):
        for one in held.values():
            yield from tensors_of(one)
    elif isinstance(held, (list, tuple)):
        for one in held:
            yield from tensors_of(one)


def bytes_of(cache: Any) -> int:
    storages = {}
    for layer in cache.layers:
        for name in PARTS:
            for tensor in tensors_of(getattr(layer, name, None)):
                storage = tensor.untyped_storage()
                storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def call(model: Any, cache: Any, tokens: int) -> int:
    ids = torch.ones(BATCH, tokens, dtype=torch.long)
    with torch.no_grad():
        model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return bytes_of(cache)


def measured(model: Any, make: Any, prompt: int, tokens: int) -> dict[str, Any]:
    try:
        cache = make(model.config)
    except ValueError as error:
        return {"refused": str(error)}
    held = [call(model, cache, prompt)]
    held += [call(model, cache, 1) for _ in range(tokens - 1)]
    return {"held": [held[0], held[1], held[-1]]}


def main() -> None:
    rows: list[dict[str, Any]] = []
    for name in MODELS:
        config = transformers.AutoConfig.from_pretrained(CONFIGS / name)
        config.use_cache = True
        make = getattr(transformers, config.architectures[0])
        model = make._from_config(config, attn_implementation="eager").eval()
        for prompt, tokens in LENGTHS:
            most = prompt + tokens - 1
            told = measured(
                model, lambda c, n=most: StaticCache(c, max_cache_len=n), prompt, tokens
            )
            rows.append({"model": name, "flags": ["--cache", "static"], "prompt": prompt} | told)
            rows[-1]["tokens"] = tokens
        for prompt, tokens in LONG_LENGTHS:
            for numbers, backend, bits, axis in QUANTISED:

                def quantised(c: Any, b: str = backend, n: int = bits, a: int = axis) -> Any:
                    return QuantizedCache(b, c, nbits=n, axis_key=a, axis_value=a)

                told = measured(model, quantised, prompt, tokens)
                rows.append({"model": name, "flags": ["--cache-dtype", numbers]} | told)
                rows[-1] |= {"prompt": prompt, "tokens": tokens, "backend": backend}
            told = measured(model, lambda c: QuantizedCache("fp8", c), prompt, tokens)
            rows.append({"model": name, "flags": ["--cache-dtype", "float8"]} | told)
            rows[-1] |= {"prompt": prompt, "tokens": tokens, "backend": "fp8"}
        print(name, flush=True)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    head = json.dumps({**versions, "batch": BATCH})
    listed = ",\n  ".join(json.dumps(row) for row in rows)
    Path(sys.argv[1]).write_text(f'{head[:-1]},\n "rows": [\n  {listed}]}}\n')


if __name__ == "__main__":
    main()
