#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what eager PyTorch asks of its CUDA caching allocator when it trains real models. Needs no GPU: run it under
tools/cuda_without_gpu/run.py, which fakes the device (and on a real one it measures the same things, with kernels).

For each NAME it writes OUT/NAME.cuda-smXX.truth.json: the exported program (on the cuda device, train mode, dropout
active) runs a forward pass without gradients and training steps under several optimizers and precisions, each phase from
the same state: parameters, buffers and inputs on the device, everything else returned to the driver.

keys: resident = what is allocated, requested, reserved (bytes) and how many segments before a phase. For each phase,
"step1" and "steady" (the third step; "step2" too where it differs), in bytes:
  start      allocated above resident when the step begins (optimizer state)
  peak       most bytes allocated in the step, above resident
  allocated  the same with resident: torch.cuda.max_memory_allocated()
  requested  the same in bytes asked for, before the allocator rounds them; with resident
  reserved   torch.cuda.max_memory_reserved(); segments: most of them at any time
  left       allocated above resident when the step has ended (output and loss are gone)
"events" (forward and steady AdamW step) lists every allocation (+) and free (-) in order as [index into "ops" of the
innermost operator, signed requested bytes] with a third element, the stream, where it is not the default one.
"program": what ran: the exported program, in PHASE_module the nn.Module that it was exported from. They are not the same:
transformers exports a mask tensor where it runs without one, which can cost the fast attention kernels. Where the exported
graph asserts dtypes that autocast changes, those assertions (they allocate nothing) are removed.
"reads_device_values": code that looked at values on the device, which a fake one does not have: do not trust the phase.

usage: measure_cuda_truth.py [--models FILE.py] OUT NAME...     NAME from measure_truth.MODELS, from LARGE below, or from
                                                                FILE.py, a program that fills measure_truth.MODELS
needs: torch (a CUDA build), torchvision, transformers (PyPI)
"""

import contextlib
import gc
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measure_truth as M
import torch
from torch.profiler import ProfilerActivity, profile

T, V = M.T, M.V
CUDA = torch.device("cuda")


def in_bf16(model):
    make, inputs = model
    return lambda: make().to(torch.bfloat16), inputs


LARGE = {
    "bert-large-mlm-b32-s512": M.text(
        T.BertForMaskedLM,
        T.BertConfig(
            hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
        ),
        32,
        512,
        "sdpa",
    ),
    "gpt2-medium-b8-s1024": M.text(
        T.GPT2LMHeadModel, T.GPT2Config(n_embd=1024, n_layer=24, n_head=16), 8, 1024, "sdpa"
    ),
    "llama-1b-bf16-b2-s2048": in_bf16(
        M.text(
            T.LlamaForCausalLM,
            T.LlamaConfig(
                hidden_size=2048,
                intermediate_size=8192,
                num_hidden_layers=16,
                num_attention_heads=32,
                num_key_value_heads=8,
                vocab_size=128256,
                max_position_embeddings=131072,
                tie_word_embeddings=True,
            ),
            2,
            2048,
            "sdpa",
        )
    ),
    "resnet50-b64": M.image(V.models.resnet50, 64),
}


def to_device(example):
    move = lambda t: t.to(CUDA)
    return (
        {k: move(t) for k, t in example.items()}
        if isinstance(example, dict)
        else tuple(move(t) for t in example)
    )


def loss_of(output):
    if torch.is_tensor(output):
        return torch.nn.functional.cross_entropy(
            output, torch.zeros(output.shape[0], dtype=torch.long, device=CUDA)
        )
    return output.loss


def release():
    gc.collect()
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()  # of releases that keep them
    torch.cuda.empty_cache()


def stats():
    s = torch.cuda.memory_stats()
    return {
        k: s[n + ".all.current"]
        for k, n in (
            ("allocated", "allocated_bytes"),
            ("requested", "requested_bytes"),
            ("reserved", "reserved_bytes"),
            ("segments", "segment"),
        )
    }


def peaks(run, resident):
    torch.cuda.reset_peak_memory_stats()
    start = torch.cuda.memory_allocated() - resident
    run()
    s = torch.cuda.memory_stats()
    return dict(
        start=start,
        peak=s["allocated_bytes.all.peak"] - resident,
        allocated=s["allocated_bytes.all.peak"],
        requested=s["requested_bytes.all.peak"],
        reserved=s["reserved_bytes.all.peak"],
        segments=s["segment.all.peak"],
        left=torch.cuda.memory_allocated() - resident,
    )


def record(run):
    """Names of operators, and [index of the innermost operator, signed requested bytes] in order."""
    history = lambda: torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=10**7)
    before = len(history())
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        run()
    trace = [e for e in history()[before:] if e["action"] in ("alloc", "free_requested")]
    torch.cuda.memory._record_memory_history(enabled=None)
    events = p.profiler.kineto_results.events()
    memory = sorted(
        (e.start_ns(), k, e.nbytes(), e.start_thread_id())
        for k, e in enumerate(events)
        if e.name() == "[memory]" and "CUDA" in str(e.device_type())
    )
    by_thread = {}
    for e in events:
        if e.name() != "[memory]":
            by_thread.setdefault(e.start_thread_id(), []).append(
                (e.start_ns(), -e.duration_ns(), e.name())
            )
    names, out = {}, []
    matched = len(memory) == len(trace) and all(
        (m[2] > 0) == (t["action"] == "alloc") and abs(m[2]) >= t["size"]
        for m, t in zip(memory, trace)
    )
    walk = {
        thread: [sorted(ops), 0, []] for thread, ops in by_thread.items()
    }  # operators, next one, stack
    for m, t in zip(memory if matched else [None] * len(trace), trace):
        name = "?"
        if m:
            state = walk.setdefault(m[3], [[], 0, []])
            ops, j, stack = state
            while j < len(ops) and ops[j][0] <= m[0]:
                stack.append((ops[j][0] - ops[j][1], ops[j][2]))
                j += 1
            state[1], state[2] = j, [s for s in stack if s[0] >= m[0]]
            name = state[2][-1][1] if state[2] else ""
        entry = [
            names.setdefault(name, len(names)),
            t["size"] if t["action"] == "alloc" else -t["size"],
        ]
        out.append(entry + [t["stream"]] if t["stream"] else entry)
    return dict(ops=list(names), events=out)


def highest(events):
    current = top = 0
    for event in events:
        current += event[1]
        top = max(top, current)
    return top


def forward(module, example):
    def run():
        with torch.no_grad():
            M.call(module, example)

    return run


def train(module, example, optimizer, autocast=None, scaler=None):
    def step():
        with torch.autocast("cuda", autocast or torch.bfloat16, enabled=autocast is not None):
            output = M.call(module, example)
            loss = loss_of(output)
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        optimizer.zero_grad()

    return step


def without_dtype_assertions(module):
    """Removes them in place (they allocate nothing); says whether there were any."""
    removed = 0
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            asserts = [
                n
                for n in part.graph.nodes
                if n.target is torch.ops.aten._assert_tensor_metadata.default
            ]
            for node in asserts:
                part.graph.erase_node(node)
            if asserts:
                part.recompile()
            removed += len(asserts)
    return removed


def device_reads(run):
    """Where `run` looks at values on the device: a fake one has none, and a branch that depends on them may go wrong."""
    with M.warnings.catch_warnings(record=True) as seen:
        M.warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        run()
        torch.cuda.set_sync_debug_mode("default")
    return sorted(
        {
            "%s:%d" % (w.filename.split("site-packages/")[-1], w.lineno)
            for w in seen
            if "synchronizing CUDA operation" in str(w.message)
        }
    )


@contextlib.contextmanager
def plain_inputs():
    """transformers reads from the device whether inputs are packed sequences and whether they are padded: here they are neither."""
    masking = T.masking_utils
    masking.fast_all = getattr(masking, "fast_all", None)  # which older ones lack
    packed, unpadded = masking.find_packed_sequence_indices, masking.fast_all
    masking.find_packed_sequence_indices, masking.fast_all = (
        lambda position_ids: None,
        lambda mask: True,
    )
    try:
        yield
    finally:
        masking.find_packed_sequence_indices, masking.fast_all = packed, unpadded


PHASES = {
    "forward_no_grad": (None, None, False),
    "train_SGD": (lambda p: torch.optim.SGD(p, lr=1e-3), None, False),
    "train_AdamW": (lambda p: torch.optim.AdamW(p, lr=1e-3), None, False),
    "train_AdamW_fused": (lambda p: torch.optim.AdamW(p, lr=1e-3, fused=True), None, False),
    "train_AdamW_autocast_bf16": (lambda p: torch.optim.AdamW(p, lr=1e-3), torch.bfloat16, False),
    "train_SGD_autocast_fp16_scaler": (lambda p: torch.optim.SGD(p, lr=1e-3), torch.float16, True),
}
EVENTS = ("forward_no_grad", "train_AdamW")


def steps(run, resident, truth):
    truth["step1"], second, truth["steady"] = (peaks(run, resident) for _ in range(3))
    if second != truth["steady"]:
        truth["step2"] = second


def measure(name, folder):
    began = time.time()
    make, inputs = M.MODELS[name]
    structure = os.path.join(folder, name + ".pt2")
    if not os.path.exists(structure):
        with torch.device("meta"):
            M.save_structure(M.export(make, inputs)[1], Path(structure))
    torch.backends.cuda.enable_cudnn_sdp(False)
    original = make().train()
    recurrent = any(isinstance(m, torch.nn.RNNBase) for m in original.modules())
    torch.backends.cudnn.enabled = not recurrent
    original.to(CUDA)
    example = to_device(inputs())
    release()
    moved = stats()
    args, kwargs = ((), example) if isinstance(example, dict) else (example, {})
    module = torch.export.export(original, args, kwargs, strict=False).module()
    release()
    resident = stats()
    parameters, buffers, by_dtype = list(module.parameters()), list(module.buffers()), {}
    for p in parameters:
        by_dtype[str(p.dtype)] = by_dtype.get(str(p.dtype), 0) + p.numel() * p.element_size()
    device = torch.cuda.get_device_properties(0)
    fake = device.name.startswith("Fake")
    workspace = (
        os.environ.get("FAKE_CUDNN_WS", "0") + " bytes for every plan"
        if fake
        else "chosen by cuDNN"
    )
    truth = dict(
        name=name,
        torch=torch.__version__,
        transformers=T.__version__,
        torchvision=V.__version__,
        device=dict(
            name=device.name,
            fake=fake,
            cc=[device.major, device.minor],
            sm=device.multi_processor_count,
            total_bytes=device.total_memory,
        ),
        allocator=os.environ.get(
            "PYTORCH_ALLOC_CONF", os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
        ),
        flags=dict(
            cudnn_sdp=False,
            cudnn=torch.backends.cudnn.enabled,
            cudnn_workspace=workspace if torch.backends.cudnn.enabled else "cuDNN disabled (RNN)",
            cudnn_benchmark=torch.backends.cudnn.benchmark,
            allow_tf32=torch.backends.cuda.matmul.allow_tf32,
        ),
        params=sum(p.numel() for p in parameters),
        param_bytes=by_dtype,
        buffer_bytes=sum(b.numel() * b.element_size() for b in buffers),
        loss="in the graph"
        if isinstance(example, dict)
        else "cross_entropy(output, labels) appended outside the exported graph",
        resident=resident,
    )
    if moved != resident:
        truth["resident_before_export"] = moved

    def measured(key, used, run, events):
        reads = device_reads(lambda: M.call(used, example))
        if reads:
            truth[key]["reads_device_values"] = reads
        release()
        steps(run, base, truth[key])
        if events:
            level = torch.cuda.memory_stats()["requested_bytes.all.current"]
            truth[key].update(record(run))
            truth[key]["events_agree"] = (
                level + highest(truth[key]["events"]) == truth[key]["steady"]["requested"]
            )

    base = resident["allocated"]
    program = "torch.export"
    for phase, (optimizer_class, autocast, scaled) in PHASES.items():
        for key, used in ((phase, module), (phase + "_module", original)):
            truth[key] = dict(program=program if used is module else "nn.Module")
            for attempt in range(2):
                optimizer = scaler = run = None
                for p in parameters:
                    p.grad = None
                release()
                if stats() != resident:
                    truth[key]["resident"] = stats()
                try:
                    with plain_inputs():  # matters to the nn.Module only
                        if optimizer_class:
                            optimizer = optimizer_class(used.parameters())
                            scaler = torch.amp.GradScaler("cuda") if scaled else None
                            run = train(used, example, optimizer, autocast, scaler)
                        else:
                            run = forward(used, example)
                        measured(key, used, run, used is module and phase in EVENTS)
                except (
                    RuntimeError
                ) as error:  # exported graphs that assert their dtypes; out of memory
                    text = str(error).split("\n")[0][:200]
                    if (
                        used is module
                        and "dtype mismatch" in text
                        and without_dtype_assertions(module)
                    ):
                        program = "torch.export, dtype assertions removed"
                        truth[key] = dict(program=program, export_error=text)
                        continue
                    truth[key]["error"] = text
                break
    with open(
        os.path.join(folder, "%s.cuda-sm%d%d.truth.json" % (name, device.major, device.minor)), "w"
    ) as f:
        json.dump(truth, f, separators=(",", ":"))
    show = lambda phase: (
        truth[phase].get("error")
        or "%d/%d" % (truth[phase]["steady"]["allocated"], truth[phase]["steady"]["reserved"])
    )
    print(
        name,
        resident["allocated"],
        *(show(x) for x in PHASES),
        "%.0f s" % (time.time() - began),
        flush=True,
    )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--models"] and len(arguments) > 1:
        import runpy

        file, arguments = arguments[1], arguments[2:]
        sys.argv = [file]
        runpy.run_path(file)
    else:
        M.MODELS.update(LARGE)
    if len(arguments) < 2:
        sys.exit(__doc__)
    os.makedirs(arguments[0], exist_ok=True)
    for model in arguments[1:]:
        measure(model, arguments[0])
        release()
