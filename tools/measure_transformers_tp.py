#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what one of two Gloo processes does that train a small language model of transformers,
loaded with tp_plan="auto".

For each NAME it writes OUT/NAME/config.json, and OUT/NAME.truth.json: of rank 0, the bytes of
parameters, the peaks of a first and a later step with AdamW (forward, backward, the optimizer,
zero_grad) and of a forward pass without gradients, and what the first step leaves.

usage: measure_transformers_tp.py OUT [NAME...]
needs: transformers, accelerate, torch
"""

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import transformers
from measure_parallel import GLOO, RANKS, all_say, wait_at_once
from recording import Events, events_of, peak_of, save_truth
from torch.distributed.tensor import DTensor

SIZES: dict[str, Any] = {
    "hidden_size": 48,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 101,  # which two processes cannot share evenly
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}
CONFIGS: dict[str, Any] = {
    "llama": transformers.LlamaConfig(**SIZES),
    "mistral": transformers.MistralConfig(**SIZES, head_dim=12),
    "qwen2": transformers.Qwen2Config(**SIZES),
    "qwen3": transformers.Qwen3Config(**SIZES, head_dim=12),
}


def complete(run: Callable[[], None]) -> Events:
    """Of a run that leaves nothing, once all of it is told."""
    while True:
        events = events_of(run, GLOO)
        if all_say(sum(size for _, size in events) == 0):
            return events


def measure(name: str, model: Any, out: Path) -> None:
    ids = torch.ones(2, 16, dtype=torch.long)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, foreach=False)

    def step() -> None:
        outputs = model(input_ids=ids, labels=ids, use_cache=False)  # the caller holds them
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    def forward() -> None:
        with torch.no_grad():
            outputs = model(input_ids=ids, use_cache=False)
        del outputs

    step()  # what is done when it is met first, is kept
    while True:
        optimizer = torch.optim.AdamW(parameters, foreach=False)
        first = events_of(step, GLOO)
        state = [t for of in optimizer.state.values() for t in of.values()]
        kept = sum((t.to_local() if isinstance(t, DTensor) else t).nbytes for t in state)
        if all_say(sum(size for _, size in first) == kept):
            break
    steps, passes = complete(step), complete(forward)
    if dist.get_rank() > 0:
        return
    local = [p.to_local() if isinstance(p, DTensor) else p for p in parameters]
    truth = {
        "name": name,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "param_bytes": sum(p.nbytes for p in local),
        "state_bytes": kept,
        "peaks": {
            "first": peak_of(first),
            "steady": peak_of(steps),
            "forward": peak_of(passes),
        },
    }
    save_truth(truth, out)
    print(truth, flush=True)


def run_rank(rank: int, meeting: str, out: Path, names: list[str]) -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    torch.cuda.is_current_stream_capturing = lambda: False  # without a device, some builds fail
    functional._maybe_wrap_tensor = wait_at_once
    store = dist.FileStore(f"{meeting}/store", RANKS)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)
    for name in names:
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            f"{meeting}/{name}", tp_plan="auto", dtype=torch.float32
        )
        measure(name, loaded.train(), out)
    dist.barrier()
    os._exit(0)  # threads of Gloo may wait for each other


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out, names = Path(sys.argv[1]), sys.argv[2:] or list(CONFIGS)
    if "MEETING" in os.environ:
        run_rank(int(os.environ["RANK"]), os.environ["MEETING"], out, names)
    with tempfile.TemporaryDirectory() as meeting:
        for name in names:
            config = CONFIGS[name]
            model = transformers.AutoModelForCausalLM.from_config(config)
            model.save_pretrained(f"{meeting}/{name}")
            (out / name).mkdir(parents=True, exist_ok=True)
            model.config.to_json_file(out / name / "config.json")
        count = {"WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS), "MEETING": meeting}
        ranks = [
            subprocess.Popen(
                [sys.executable, sys.argv[0], str(out), *names],
                env={**os.environ, **count, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            )
            for rank in range(RANKS)
        ]
        sys.exit(max(process.wait() for process in ranks))


if __name__ == "__main__":
    main()
