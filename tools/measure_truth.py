#!/usr/bin/env python3
"""Exports real models without their weights and measures what eager PyTorch does when it trains them on the CPU.

For each NAME it writes OUT/NAME.pt2, exported on the meta device (structure only, tens of kilobytes), and
OUT/NAME.truth.json: parameters, the peak of allocated tensor bytes above the resident ones, every allocation and
free in order as [innermost operator, signed bytes], for a forward pass without gradients and for training steps, and
the flops that torch's own counter gives (which is wrong for the backward of grouped convolutions).

usage: measure_truth.py OUT NAME...      NAME from MODELS below; add your own
needs: torch, torchvision, transformers (PyPI)
"""

import json
import os
import sys
import warnings
from pathlib import Path

import torch
import torchvision as V
import transformers as T
from recording import save_structure
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def ids(batch, seq):
    return torch.zeros(batch, seq, dtype=torch.long)


def text(cls, config, batch, seq, attention=None):
    def make():
        config.use_cache = False
        if attention:
            config._attn_implementation = attention
        return cls(config)

    return make, lambda: dict(input_ids=ids(batch, seq), labels=ids(batch, seq))


def image(make, batch, labelled=False):
    if labelled:
        return make, lambda: dict(
            pixel_values=torch.zeros(batch, 3, 224, 224), labels=ids(batch, 1)[:, 0]
        )
    return make, lambda: (torch.zeros(batch, 3, 224, 224),)


MODELS = {
    "bert-base-mlm-b4-s128": text(T.BertForMaskedLM, T.BertConfig(), 4, 128, "sdpa"),
    "bert-base-mlm-eager-attn-b4-s128": text(T.BertForMaskedLM, T.BertConfig(), 4, 128, "eager"),
    "gpt2-b2-s128": text(T.GPT2LMHeadModel, T.GPT2Config(), 2, 128, "sdpa"),
    "llama-small-b2-s128": text(
        T.LlamaForCausalLM,
        T.LlamaConfig(
            hidden_size=512,
            intermediate_size=1376,
            num_hidden_layers=6,
            num_attention_heads=8,
            num_key_value_heads=2,
            vocab_size=32000,
        ),
        2,
        128,
        "sdpa",
    ),
    "t5-small-b2-s64": text(
        T.T5ForConditionalGeneration, T.T5Config(decoder_start_token_id=0), 2, 64
    ),
    "resnet50-b4": image(V.models.resnet50, 4),
    "mobilenetv2-b4": image(V.models.mobilenet_v2, 4),
    "vit-b16-b2": image(lambda: T.ViTForImageClassification(T.ViTConfig(num_labels=1000)), 2, True),
}


def call(module, inputs):
    return module(**inputs) if isinstance(inputs, dict) else module(*inputs)


def loss_of(output):
    if torch.is_tensor(output):
        return torch.nn.functional.cross_entropy(
            output, torch.zeros(output.shape[0], dtype=torch.long)
        )
    return output.loss


def export(make, inputs):
    module, example = make().train(), inputs()
    if isinstance(example, dict):
        return example, torch.export.export(module, (), example, strict=False)
    return example, torch.export.export(module, example, strict=False)


def record(run):
    """Peak, remainder and list of [innermost operator, signed bytes] of what `run` allocates and frees."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        run()
    events = p.profiler.kineto_results.events()
    ops = sorted(
        (e.start_ns(), -e.duration_ns(), e.name()) for e in events if e.name() != "[memory]"
    )
    memory = sorted(
        (e.start_ns(), k, e.nbytes()) for k, e in enumerate(events) if e.name() == "[memory]"
    )
    out, current, peak, stack, j = [], 0, 0, [], 0
    for at, _, size in memory:
        while j < len(ops) and ops[j][0] <= at:
            stack.append((ops[j][0] - ops[j][1], ops[j][2]))
            j += 1
        stack = [s for s in stack if s[0] >= at]
        out.append([stack[-1][1] if stack else "", size])
        current += size
        peak = max(peak, current)
    return peak, current, out


def measure(name, folder):
    make, inputs = MODELS[name]
    with torch.device("meta"):
        save_structure(export(make, inputs)[1], Path(folder) / (name + ".pt2"))
    example, program = export(make, inputs)
    module = program.module()
    parameters, buffers = list(module.parameters()), list(module.buffers())
    by_dtype = {}
    for p in parameters:
        by_dtype[str(p.dtype)] = by_dtype.get(str(p.dtype), 0) + p.numel() * p.element_size()
    truth = dict(
        name=name,
        torch=torch.__version__,
        transformers=T.__version__,
        torchvision=V.__version__,
        device="cpu",
        threads=1,
        params=sum(p.numel() for p in parameters),
        param_bytes=by_dtype,
        buffer_bytes=sum(b.numel() * b.element_size() for b in buffers),
        loss="in the graph"
        if isinstance(example, dict)
        else "cross_entropy(output, labels) appended outside the exported graph",
    )

    def forward():
        with torch.no_grad():
            call(module, example)

    forward()
    peak, left, events = record(forward)
    truth["forward_no_grad"] = dict(peak=peak, left=left, events=events)
    for name_, optimizer_class in (("SGD", torch.optim.SGD), ("AdamW", torch.optim.AdamW)):
        optimizer = optimizer_class(module.parameters(), lr=1e-3)

        def step(autocast=False):
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                output = call(module, example)
                loss = loss_of(output)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        first, first_left, _ = record(step)
        steady, steady_left, events = record(step)
        state = sum(
            v.numel() * v.element_size()
            for s in optimizer.state.values()
            for v in s.values()
            if torch.is_tensor(v)
        )
        truth["train_" + name_] = dict(
            step1_peak=first,
            step1_left=first_left,
            step2_peak=steady,
            step2_left=steady_left,
            state_bytes=state,
        )
        if name_ == "SGD":
            truth["train_SGD"]["step2_events"] = events
            try:
                step(True)
                peak, _, events = record(lambda: step(True))
                truth["train_SGD_autocast_bf16"] = dict(step2_peak=peak, step2_events=events)
            except RuntimeError as error:  # exported graphs that assert their dtypes
                optimizer.zero_grad()
                truth["train_SGD_autocast_bf16"] = dict(error=str(error)[:200])
    with FlopCounterMode(display=False) as counter:
        call(module, example)
    truth["flops_forward"] = counter.get_total_flops()
    with FlopCounterMode(display=False) as counter:
        loss_of(call(module, example)).backward()
    truth["flops_forward_backward"] = counter.get_total_flops()
    truth["flops_by_op"] = {str(op): n for op, n in counter.get_flop_counts()["Global"].items()}
    with open(os.path.join(folder, name + ".truth.json"), "w") as f:
        json.dump(truth, f, separators=(",", ":"))
    print(
        name,
        truth["params"],
        truth["forward_no_grad"]["peak"],
        truth["train_SGD"]["step2_peak"],
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for model in sys.argv[2:]:
        measure(model, sys.argv[1])
