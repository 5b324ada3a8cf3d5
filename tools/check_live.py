#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weighs live modules of a library and runs them: is every allocation of a training step told?

For each model a steady step with SGD is weighed by the Python package and measured in eager
PyTorch on one thread. A line says `same` where both allocate and free the same sizes and reach the
same peak, `peak` where only the peaks are equal, and by how much they differ otherwise.

usage: check_live.py torchvision|transformers [NAME...]
needs: steelyard, torch, the library
"""

import argparse
import gc
import inspect
import json
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import steelyard
from recording import events_of, peak_of

# What a model may take to be made, weighed and run, and the parameters that it may have.
SECONDS = 180
MOST_PARAMETERS = 120_000_000
# Sizes that configs of transformers are given, where they have them.
SMALL = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "emb_dim"), 64),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "ffn_dim", "hidden_dim", "n_inner"), 128),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "d_inner", "vocab_size"), 128),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 32),
    **dict.fromkeys(("head_dim", "d_kv", "attention_head_size"), 16),
    **{"num_key_value_heads": 2, "num_experts_per_tok": 2, "type_vocab_size": 2},
    **{"max_position_embeddings": 64, "image_size": 32, "patch_size": 8, "embedding_size": 32},
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
}

Made = tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]
Library = Iterator[tuple[str, Callable[[], Made]]]


def torchvision_models(names: Iterable[str]) -> Library:
    import torchvision

    def make(name: str) -> Made:
        model = torchvision.models.get_model(name, weights=None)
        size = getattr(model, "image_size", 224 if name.startswith("maxvit") else 96)
        return model, (torch.randn(2, 3, size, size),), {}

    for name in names or torchvision.models.list_models(module=torchvision.models):
        yield name, partial(make, name)


def transformers_models(names: Iterable[str]) -> Library:
    import transformers

    transformers.logging.set_verbosity_error()
    kinds = (
        transformers.MODEL_FOR_CAUSAL_LM_MAPPING,
        transformers.MODEL_FOR_MASKED_LM_MAPPING,
        transformers.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
        transformers.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING,
        transformers.MODEL_MAPPING,
    )

    def make(name: str) -> Made:
        config = transformers.CONFIG_MAPPING[name]()
        for key, value in SMALL.items():
            if isinstance(getattr(config, key, None), int):
                setattr(config, key, value)
        kind = next(kind for kind in kinds if type(config) in kind)
        found = kind[type(config)]
        model = (found[0] if isinstance(found, tuple) else found)(config)
        return model, (), inputs_of(model, config, labelled=kind in kinds[:3])

    for name in names or sorted(transformers.CONFIG_MAPPING):
        yield name, partial(make, name)


def inputs_of(model: torch.nn.Module, config: Any, labelled: bool) -> dict[str, Any]:
    takes = inspect.signature(model.forward).parameters
    ids = torch.randint(3, 100, (2, 16))
    size = getattr(config, "image_size", 32)
    channels = getattr(config, "num_channels", None) or 3
    known = {
        "input_ids": ids,
        "decoder_input_ids": ids,
        "use_cache": False,
        "input_values": torch.randn(2, 4000),
        "input_features": torch.randn(2, getattr(config, "num_mel_bins", 80), 100),
    }
    if labelled:
        known["labels"] = ids
    if "input_ids" not in takes and isinstance(size, int):
        known["pixel_values"] = torch.randn(2, channels, size, size)
    return {name: value for name, value in known.items() if name in takes}


def first_tensor(output: Any) -> torch.Tensor:
    while not isinstance(output, torch.Tensor):
        output = next(iter(output.values())) if hasattr(output, "values") else output[0]
    return output


def measured(model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int]:
    """The sizes that a steady step allocates and frees."""
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)

    def step() -> None:
        output = model(*args, **kwargs)
        loss = first_tensor(output)
        (loss if "labels" in kwargs else loss.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(2):
        step()
    gc.collect()
    return [size for _, size in events_of(step)]


def verdict(make: Callable[[], Made]) -> str:
    torch.manual_seed(0)
    model, args, kwargs = make()
    if sum(p.numel() for p in model.parameters()) > MOST_PARAMETERS:
        return "left out: large"
    model.train()
    model(*args, **kwargs)
    loss = {} if "labels" in kwargs else {"loss": "sum"}
    weighing = steelyard.weigh(model, args, kwargs, train="sgd", **loss)  # type: ignore[arg-type]
    report = json.loads(weighing.report("json", events=True))
    ours = [event[1] for event in report["memory"]["events"]]
    theirs = measured(model, args, kwargs)
    peaks = [peak_of([["", size] for size in sizes]) for sizes in (ours, theirs)]
    if peaks[0] != peaks[1]:
        return f"DIFFERS by {peaks[0] / peaks[1] - 1:+.2%}: {peaks[0]:,} B, PyTorch {peaks[1]:,} B"
    return "same" if Counter(ours) == Counter(theirs) else "peak"


def too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    libraries = {"torchvision": torchvision_models, "transformers": transformers_models}
    parser.add_argument("library", choices=libraries)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, too_slow)
    counts: Counter[str] = Counter()
    for name, make in libraries[asked.library](asked.names):
        signal.alarm(SECONDS)
        try:
            said = verdict(make)
        except Exception as error:  # of making, tracing or running it
            said = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
        signal.alarm(0)
        counts[said.split()[0]] += 1
        print(f"{name:32s} {said}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
