#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts one model with one peer and prints what it took, as JSON.

usage: peers.py PEER MODEL

Each peer is used as its own documentation says, on tensors without data (the meta device, or fake
tensors), so that none of them computes: the most favourable way. Two of them know a training step:
they are given forward, backward and the step of AdamW. `count_ms` is the call of the peer
alone, in a process that has everything loaded; the caller times the whole process.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

# Peers look for devices, caches and updates; none of that is to be measured.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("DS_ACCELERATOR", "cpu")

Shape = tuple[int, int]

# transformers asks whether all of the mask is set, which the meta device cannot say; a mask for
# each pair of tokens is taken as it is.
UNASKING = {"use_cache": False, "attn_implementation": "eager"}


def bert_base() -> tuple[Any, Shape]:
    import transformers

    return transformers.BertForMaskedLM(transformers.BertConfig(**UNASKING)), (4, 128)


def llama3_8b() -> tuple[Any, Shape]:
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        vocab_size=128256,
        **UNASKING,
    )
    return transformers.LlamaForCausalLM(config), (1, 2048)


MODELS: dict[str, Callable[[], tuple[Any, Shape]]] = {
    "bert-base-mlm-b4-s128": bert_base,
    "llama3-8b-b1-s2048": llama3_8b,
}


def on_meta(make: Callable[[], tuple[Any, Shape]]) -> tuple[Any, dict[str, Any]]:
    import torch

    with torch.device("meta"):
        model, shape = make()
        inputs = {name: torch.zeros(shape, dtype=torch.long) for name in ("input_ids", "labels")}
        batch, tokens = shape
        inputs["attention_mask"] = torch.zeros(batch, 1, tokens, tokens)
    return model.eval(), inputs


def flop_counter(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(**inputs)
    return {"flops": counter.get_total_flops()}


def fvcore(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    import logging

    from fvcore.nn import FlopCountAnalysis

    logging.disable(logging.WARNING)
    arguments = (inputs["input_ids"], inputs["attention_mask"])
    return {"macs": int(FlopCountAnalysis(model, arguments).total())}


def torchinfo(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    from torchinfo import summary

    result = summary(model, input_data=inputs, device="meta", verbose=0)
    return {"macs": result.total_mult_adds}


def calflops(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    from calflops import calculate_flops

    flops, macs, _ = calculate_flops(
        model, kwargs=inputs, print_results=False, output_as_string=False
    )
    return {"flops": flops, "macs": macs}


def deepspeed(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    from deepspeed.profiling.flops_profiler import get_model_profile

    flops, macs, _ = get_model_profile(
        model, kwargs=inputs, print_profile=False, as_string=False, warm_up=0
    )
    return {"flops": flops, "macs": macs}


def adamw(model: Any) -> Any:
    import torch

    return torch.optim.AdamW(model.train().parameters(), foreach=False)


def train(model: Any, optimizer: Any, inputs: dict[str, Any]) -> None:
    model(**inputs).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def flop_counter_of_step(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    from torch.utils.flop_counter import FlopCounterMode

    optimizer = adamw(model)
    with FlopCounterMode(display=False) as counter:
        train(model, optimizer, inputs)
    return {"flops": counter.get_total_flops()}


def mem_tracker(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The peak in bytes of a steady step; the first makes the optimizer's state, as it must."""
    from torch.distributed._tools.mem_tracker import MemTracker

    optimizer = adamw(model)
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    with tracker:
        train(model, optimizer, inputs)
        tracker.reset_mod_stats()
        train(model, optimizer, inputs)
    peak = tracker.get_tracker_snapshot("peak")
    return {"peak_bytes": max((snapshot["Total"] for snapshot in peak.values()), default=0)}


class Peer(NamedTuple):
    """What counts, whether it is given a training step, and whether on fake tensors."""

    count: Callable[[Any, dict[str, Any]], dict[str, Any]]
    trains: bool = False
    fake: bool = False


PEERS = {
    "FlopCounterMode": Peer(flop_counter),
    "fvcore": Peer(fvcore),
    "torchinfo": Peer(torchinfo),
    "calflops": Peer(calflops),
    "deepspeed": Peer(deepspeed),
    "FlopCounterMode, training": Peer(flop_counter_of_step, trains=True),
    "MemTracker, training": Peer(mem_tracker, trains=True, fake=True),
}


def main() -> None:
    peer, name = sys.argv[1:]
    begin = time.perf_counter()
    if PEERS[peer].fake:
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            import torch

            model, shape = MODELS[name]()
            inputs = {k: torch.zeros(shape, dtype=torch.long) for k in ("input_ids", "labels")}
            made = time.perf_counter()
            counted = PEERS[peer].count(model, inputs)
    else:
        model, inputs = on_meta(MODELS[name])
        made = time.perf_counter()
        counted = PEERS[peer].count(model, inputs)
    end = time.perf_counter()
    print(json.dumps({"make_ms": (made - begin) * 1e3, "count_ms": (end - made) * 1e3, **counted}))


if __name__ == "__main__":
    main()
