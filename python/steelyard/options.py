# SPDX-License-Identifier: Apache-2.0
"""The keywords of weighing, which are the command line's flags, and what the library calls them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from steelyard import _core, progress
from steelyard.errors import NotFoundError, UsageError
from steelyard.type_hints import current_type_hints

if TYPE_CHECKING:
    import torch

T = TypeVar("T")


class WeighKeywords(TypedDict, total=False):
    """How a model is weighed. docs/cli.md has a sentence for each, under the flag of its name."""

    inputs: Mapping[str, Sequence[int]]
    sizes: Mapping[str, int]
    batch: int | None
    seq: int | None
    train: str | None
    loss: str | None
    loss_output: int | None
    optim_args: Mapping[str, object]
    groups: Mapping[str, Mapping[str, object]]
    no_decay: Iterable[str]
    freeze: Iterable[str]
    recompute: Iterable[str]
    recompute_reentrant: bool
    inplace: Iterable[str]
    fused_loss: int
    clip_norm: bool | float
    clip_value: bool | float
    accumulate: int
    ranks: int
    parallel: str | None
    bucket_cap_mb: int
    bucket_views: bool
    find_unused_parameters: bool
    static_graph: bool
    shard_units: Iterable[str]
    keep_gathered: bool
    mp_policy: Mapping[str, object]
    tp_plan: Mapping[str, object] | str
    parameter_views: bool
    rank: int
    parallel_args: Mapping[str, Any]
    unroll: bool
    zero_grad: Literal["none", "zeros"]
    first_step: bool
    amp: Literal["bf16", "fp16"] | None
    amp_policy: Literal["torch", "raf"]
    cast: Mapping[str, str | _core.DType]
    mode: Literal["exported", "train", "eval"]
    fit: int | str | None
    device: str | torch.device
    devices: str | Iterable[str]
    alloc_conf: str | Iterable[str]
    segments: bool
    no_cudnn_attention: bool
    deterministic: bool
    torch_release: str
    as_module: bool
    runtime: str
    schedule: str
    budget: int | str | None
    count: str
    at: str | None
    strict: bool
    advise: bool
    importer: str | None
    dtype: str | _core.DType | None
    attention: str | None
    use_cache: bool
    generate: str | tuple[int, int] | None
    beams: int
    cache: str
    cache_dtype: str
    block_size: int
    shared_prefix: int
    bandwidth: float | None
    peak_flops: float | None
    progress: bool | Callable[[int, int], None]


# What says something of a training step, which needs an optimizer.
OF_TRAINING = frozenset(
    (
        "loss", "loss_output", "optim_args", "groups", "no_decay", "freeze", "recompute",
        "recompute_reentrant", "inplace", "fused_loss", "clip_norm", "clip_value", "accumulate",
        "unroll", "zero_grad", "first_step", "ranks", "parallel", "bucket_cap_mb", "bucket_views",
        "find_unused_parameters", "static_graph", "shard_units", "keep_gathered", "mp_policy",
        "tp_plan", "parameter_views", "rank", "parallel_args",
    )
)  # fmt: skip
# What says something of text that a model writes, which needs `generate`; and what the library
# calls it.
OF_GENERATION = {
    "beams": "beams",
    "cache": "store",
    "cache_dtype": "numbers",
    "block_size": "block",
    "shared_prefix": "shared_prefix",
    "bandwidth": "bandwidth",
    "peak_flops": "operations",
}
# Flags that are no keywords of their own, and how they are written here.
ELSEWHERE = {
    "momentum": 'optim_args={"momentum": 0.9}',
    "nesterov": 'optim_args={"nesterov": True}',
    "weight_decay": 'optim_args={"weight_decay": 0.01}',
    "foreach": 'optim_args={"foreach": True}',
    "fused": 'optim_args={"fused": True}',
    "as": "as_module=True",
    "input": 'inputs={"input_ids": (32, 512)}',
    "size": 'sizes={"u0": 64}',
    "group": 'groups={"*.bias": {"weight_decay": 0}}',
    "timings": "weigh(...).report(timings=True)",
}

Check = tuple[Callable[[Any], bool], str]  # of a keyword's value, and what it has to be


def _is_whole(value: Any) -> bool:
    try:
        whole = index(value)
    except TypeError:
        return False
    return -(2**63) <= whole < 2**63 and not isinstance(value, bool)


def _are_sizes(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str) and all(map(_is_whole, value))


def _is_mapping(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(name, str) and of(one) for name, one in value.items()
        )

    return check


def _is_text(value: object) -> bool:
    return isinstance(value, str)


WHOLE: Check = (_is_whole, "a whole number of 64 bits")
TEXT: Check = (_is_text, "a text")
SWITCH: Check = (lambda value: isinstance(value, bool), "True or False")
LIMIT: Check = (
    lambda value: isinstance(value, bool | int | float) and value >= 0,
    "True, False or a number that is not negative",
)
# A norm without a limit is only taken; elements without one would be left as they are.
FINITE_LIMIT: Check = (
    lambda value: LIMIT[0](value) and value < inf,
    "True, False or a finite number that is not negative",
)
PATTERNS: Check = (lambda value: isinstance(value, Iterable), "a list of patterns")
SPEED: Check = (
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value > 0,
    "a number of bytes or operations in a second, such as 3.35e12",
)
MEMORY: Check = (lambda value: _is_whole(value) or _is_text(value), "bytes or a text such as 80GB")
CHECKS: dict[str, Check] = {
    "inputs": (_is_mapping(_are_sizes), 'sizes by name, such as {"input_ids": (32, 512)}'),
    "sizes": (_is_mapping(_is_whole), 'whole numbers by name, such as {"u0": 64}'),
    "optim_args": (_is_mapping(lambda _: True), 'options by name, such as {"momentum": 0.9}'),
    "parallel_args": (
        _is_mapping(lambda _: True),
        'options by name, such as {"reduce_bucket_size": 5e7}',
    ),
    "groups": (
        _is_mapping(lambda one: isinstance(one, Mapping)),
        'options by pattern, such as {"*.bias": {"weight_decay": 0}}',
    ),
    "cast": (_is_mapping(lambda _: True), 'dtypes by name, such as {"aten::softmax": "float32"}'),
    "mp_policy": (
        _is_mapping(lambda _: True),
        'options of MixedPrecisionPolicy, such as {"param_dtype": "bfloat16"}',
    ),
    "tp_plan": (
        lambda value: value == "auto" or _is_mapping(lambda _: True)(value),
        'styles by modules, such as {"*.up": "colwise", "*.down": "rowwise"}, PyTorch\'s own, '
        'or "auto"',
    ),
    "progress": (lambda value: isinstance(value, bool) or callable(value), "True or a function"),
    "generate": (
        lambda value: _is_text(value) or (_are_sizes(value) and len(value) == 2),
        "the tokens of a prompt and those that follow, (512, 128)",
    ),
    "bandwidth": SPEED,
    "peak_flops": SPEED,
    "fit": MEMORY,
    "budget": MEMORY,
    **dict.fromkeys((
            "batch", "seq", "accumulate", "loss_output", "fused_loss", "beams", "block_size",
            "shared_prefix", "ranks", "bucket_cap_mb", "rank",
        ),
        WHOLE,
    ),
    "devices": (
        lambda value: _is_text(value) or isinstance(value, Iterable),
        'a list of devices, such as ["h100", "a100-80gb"], or "all"',
    ),
    "alloc_conf": (
        lambda value: _is_text(value) or isinstance(value, Iterable),
        'settings of the allocator, such as ["expandable_segments:True"], or "recommend"',
    ),
    "device": (
        lambda value: _is_text(value) or type(value).__name__ == "device",
        'a device, such as "h100", "cuda" or torch.device("cpu")',
    ),
    "clip_norm": LIMIT,
    "clip_value": FINITE_LIMIT,
    **dict.fromkeys(("no_decay", "freeze", "recompute", "inplace", "shard_units"), PATTERNS),
    **dict.fromkeys(
        (
            "recompute_reentrant", "unroll", "first_step", "strict", "advise", "use_cache",
            "no_cudnn_attention", "deterministic", "as_module", "segments", "bucket_views",
            "find_unused_parameters", "static_graph", "keep_gathered", "parameter_views",
        ),
        SWITCH,
    ),
    **dict.fromkeys(
        (
            "train", "loss", "zero_grad", "amp", "mode", "runtime", "schedule", "count", "at",
            "importer", "attention", "torch_release", "cache", "cache_dtype", "amp_policy",
            "parallel",
        ),
        TEXT,
    ),
}  # fmt: skip
MODES = {
    "exported": _core.ModelMode.EXPORTED,
    "train": _core.ModelMode.TRAIN,
    "eval": _core.ModelMode.EVAL,
}
POLICIES = {"torch": _core.CastPolicy.TORCH, "raf": _core.CastPolicy.RAF}
# Keywords that name one of what the library has.
NAMED: dict[str, Callable[[], list[str]]] = {
    "runtime": _core.runtimes,
    "schedule": _core.schedules,
    "count": _core.counting_conventions,
    "cache": _core.cache_stores,
    "cache_dtype": _core.cache_numbers,
    "torch_release": _core.torch_releases,
}
LARGEST = 2**31 - 1  # number of an option that the library keeps in 32 bits
CUDA_DEVICE = "h100"  # that "cuda" stands for
LOW = {"bf16": _core.DType.BFLOAT16, "fp16": _core.DType.FLOAT16}


def weigh_options(keywords: Mapping[str, Any]) -> _core.WeighOptions:
    """Returns the options that these keywords are, all but the model's path."""
    _refuse_unknown(keywords)
    keywords = {name: value for name, value in keywords.items() if value is not None}
    _refuse_other_types(keywords)
    _refuse_untrained(keywords)
    _refuse_unknown_names(keywords)
    options = _core.WeighOptions()
    for name in (
        "runtime",
        "schedule",
        "count",
        "strict",
        "advise",
        "use_cache",
        "as_module",
        "segments",
    ):
        if name in keywords:
            setattr(options, name, keywords[name])
    for name in ("importer", "attention", "at"):
        setattr(options, name, keywords.get(name) or "")
    options.dtype = _dtype(keywords.get("dtype"))
    _set_device(options, keywords)
    options.fit = _limit(options, keywords.get("fit"))
    options.budget = _bytes(keywords.get("budget"), "budget")
    options.mode = _chosen(MODES, keywords.get("mode", "exported"), "mode")
    options.bind = _bind_options(keywords)
    options.train = _train_options(keywords)
    options.amp = _amp_options(keywords)
    options.generate = _generate_options(keywords)
    if listener := progress.listener(keywords.get("progress", False)):
        options.progress = listener
    return options


def _refuse_unknown(keywords: Mapping[str, Any]) -> None:
    known = WeighKeywords.__annotations__
    for name in keywords:
        if name in ELSEWHERE:
            raise TypeError(f"there is no keyword {name!r}: write {ELSEWHERE[name]}")
        if name not in known:
            import difflib

            close = difflib.get_close_matches(name, known, n=1)
            guess = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"there is no keyword {name!r}{guess}")


def _refuse_other_types(keywords: Mapping[str, Any]) -> None:
    for name, value in keywords.items():
        if name in CHECKS and not CHECKS[name][0](value):
            wanted = CHECKS[name][1]
            raise UsageError(f"{value!r} is not {wanted}", name)


def _refuse_unknown_names(keywords: Mapping[str, Any]) -> None:
    """What the library would refuse as well, but only once a module has been exported."""
    for name, known in NAMED.items():
        if name in keywords:
            _chosen(dict.fromkeys(known()), keywords[name], name)


def _refuse_untrained(keywords: Mapping[str, Any]) -> None:
    # A forward pass shares layers, too.
    shared = {"ranks", "parallel", "tp_plan", "rank"} if keywords.get("parallel") == "tp" else set()
    names = OF_TRAINING - shared
    given = [name for name in keywords if name in names and keywords[name]]
    if given and not keywords.get("train"):
        raise UsageError(
            "options of a training step are given, but no optimizer",
            given[0],
            "Name it with train.",
        )


def _set_device(options: _core.WeighOptions, keywords: Mapping[str, Any]) -> None:
    known = {name: name for name in _core.target_names()}
    options.device = _chosen(known, device_named(keywords.get("device", "cpu")), "device")
    options.cudnn_attention = not keywords.get("no_cudnn_attention", False)
    options.deterministic = keywords.get("deterministic", False)
    if "torch_release" in keywords:
        options.torch_release = keywords["torch_release"]
    options.devices = [device for text in _texts(keywords, "devices") for device in text.split(",")]
    gpus = {name: name for name in (*known, "all") if name != "cpu"}
    for device in options.devices:
        _chosen(gpus, device, "devices")
    options.alloc_conf = _texts(keywords, "alloc_conf")


def device_named(device: object) -> str:
    """A device of the library's, or one of PyTorch's: "cuda:0", torch.device("cpu")."""
    name, _, place = str(device).partition(":")
    if name not in ("cpu", "cuda") or (place and not place.isdigit()):
        return str(device)
    if name == "cuda":
        warnings.warn(
            f'device "{device}" is weighed as the GPU {CUDA_DEVICE}: name another, such as '
            '"a100-80gb"',
            stacklevel=_frames_of_ours(),
        )
        return CUDA_DEVICE
    return name


def _frames_of_ours() -> int:
    """How far up the line is that called this package, for a warning of the caller's."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "steelyard":
        frame, level = frame.f_back, level + 1
    return level


def _texts(keywords: Mapping[str, Any], name: str) -> list[str]:
    """One text, or several."""
    given = keywords.get(name) or ()
    return [given] if isinstance(given, str) else _patterns(given, name)


def _limit(options: _core.WeighOptions, fit: int | str | None) -> int | None:
    """What `fit` may take: bytes, or all that the device has."""
    if fit != "device":
        return _bytes(fit, "fit")
    if options.device_memory == 0:
        raise UsageError(
            "the memory of a cpu is not known",
            "fit",
            'Name a CUDA device with device="h100", or a size: fit="80GB".',
        )
    return options.device_memory


def _bind_options(keywords: Mapping[str, Any]) -> _core.BindOptions:
    bind = _core.BindOptions()
    bind.batch = keywords.get("batch")
    bind.seq = keywords.get("seq")
    inputs = keywords.get("inputs") or {}
    bind.inputs = [
        _core.InputShape(name, list(map(index, sizes))) for name, sizes in inputs.items()
    ]
    sizes = keywords.get("sizes") or {}
    bind.sizes = [_core.SymbolSize(name, size) for name, size in sizes.items()]
    return bind


def _one_of(name: str | None, known: list[str], keyword: str) -> str:
    """The name, or nothing where none is given; told before a module is exported for it."""
    return _chosen({one: one for one in known}, name, keyword) if name else ""


def _train_options(keywords: Mapping[str, Any]) -> _core.TrainOptions:
    train = _core.TrainOptions()
    train.optimizer = _one_of(keywords.get("train"), _core.optimizers(), "train")
    train.loss = _one_of(keywords.get("loss"), _core.losses(), "loss")
    train.options = _optimizer_options(keywords.get("optim_args") or {})
    train.groups = _groups(keywords)
    for name in ("freeze", "recompute", "inplace"):
        setattr(train, name, _patterns(keywords.get(name) or (), name))
    for name in ("recompute_reentrant", "first_step", "unroll"):
        setattr(train, name, bool(keywords.get(name, False)))
    for name in ("clip_norm", "clip_value"):  # 0 is a limit, too, and True that of most
        limit = keywords.get(name, False)
        setattr(train, name, None if limit is False else float(limit))
    train.accumulate = _within(keywords.get("accumulate", 1), 1, None, "accumulate")
    train.ranks = _within(keywords.get("ranks", 1), 1, None, "ranks")
    train.parallel = _parallel_options(keywords)
    if (output := keywords.get("loss_output")) is not None:
        train.loss_output = _within(output, 0, None, "loss_output")
    most_chunks = _core.MOST_LOSS_CHUNKS
    train.fused_loss = _within(keywords.get("fused_loss", 0), 0, most_chunks, "fused_loss")
    zeros = {"none": False, "zeros": True}
    train.keep_gradients = _chosen(zeros, keywords.get("zero_grad", "none"), "zero_grad")
    return train


def _parallel_options(keywords: Mapping[str, Any]) -> _core.ParallelOptions:
    parallel = _core.ParallelOptions()
    parallel.wrapper = keywords.get("parallel") or ""
    shards = _core.shards(parallel)
    for name in ("shard_units", "keep_gathered", "mp_policy"):
        if keywords.get(name) and not shards:
            raise UsageError("no wrapper gathers parameters", name, 'Name one: parallel="fsdp".')
    parallel.units = _patterns(keywords.get("shard_units") or (), "shard_units")
    parallel.keep_gathered = bool(keywords.get("keep_gathered", False))
    parallel.precision = _shard_precision(keywords.get("mp_policy") or {})
    has_engine = _core.zero_stage(parallel) > 0
    shares_layers = _core.shares_layers(parallel)
    sums = bool(parallel.wrapper) and not (shards or has_engine or shares_layers)
    for name in ("bucket_views", "bucket_cap_mb", "find_unused_parameters", "static_graph"):
        if keywords.get(name) and not sums:
            raise UsageError(
                "no wrapper sums gradients in buckets", name, 'Name one: parallel="ddp".'
            )
    if "bucket_cap_mb" in keywords:
        most = _core.MOST_BUCKET_MIB
        parallel.bucket_mib = _within(keywords["bucket_cap_mb"], 1, most, "bucket_cap_mb")
    parallel.bucket_views = bool(keywords.get("bucket_views", False))
    parallel.find_unused = bool(keywords.get("find_unused_parameters", False))
    parallel.static_graph = bool(keywords.get("static_graph", False))
    plan = keywords.get("tp_plan") or {}
    if plan and not shares_layers:
        message = "no wrapper has processes share layers"
        raise UsageError(message, "tp_plan", 'Name one: parallel="tp".')
    if shares_layers and not plan:
        hint = 'Name some: tp_plan={"*.up": "colwise", "*.down": "rowwise"}.'
        raise UsageError("no layer is shared", "parallel", hint)
    styles = {plan: ""} if isinstance(plan, str) else plan
    parallel.plan = [_core.LayerPlan(modules, str(style)) for modules, style in styles.items()]
    for name in ("parameter_views", "rank"):
        # Rank 0 is one.
        given = keywords.get(name) is not None and keywords.get(name) is not False
        has_rank = name == "rank" and (has_engine or shares_layers)
        if given and not (_core.partitions(parallel) or has_rank):
            raise UsageError(
                "no wrapper shares out what is stepped", name, 'Name one: parallel="zero1".'
            )
    parallel.parameter_views = bool(keywords.get("parameter_views", False))
    if "rank" in keywords:
        parallel.rank = _within(keywords["rank"], 0, None, "rank")
    if keywords.get("parallel_args") and not has_engine:
        raise UsageError(
            "no wrapper has options of DeepSpeed's JSON",
            "parallel_args",
            'Name one: parallel="deepspeed2".',
        )
    parallel.arguments = _optimizer_options(keywords.get("parallel_args") or {})
    return parallel


def _shard_precision(options: Mapping[str, Any]) -> _core.ShardPrecision:
    precision = _core.ShardPrecision()
    dtypes = {"param_dtype": "param", "reduce_dtype": "reduce", "output_dtype": "output"}
    for name, value in options.items():
        if name in dtypes:
            setattr(precision, dtypes[name], _dtype(value))
        elif name == "cast_forward_inputs" and isinstance(value, bool):
            precision.cast_inputs = value
        else:
            raise UsageError(
                f"{name}={value} is no option of MixedPrecisionPolicy",
                "mp_policy",
                'Write it as {"param_dtype": "bfloat16", "reduce_dtype": "float32"}.',
            )
    return precision


def _generate_options(keywords: Mapping[str, Any]) -> _core.GenerateOptions | None:
    given = [name for name in OF_GENERATION if name in keywords]
    if (asked := keywords.get("generate")) is None:
        if given:
            raise UsageError("no text is written", given[0], "Say how much: generate=(512, 128).")
        return None
    if "block_size" in given and keywords.get("cache") != "paged":
        raise UsageError("only a paged cache has blocks", "block_size", 'Say cache="paged".')
    if ("bandwidth" in given) != ("peak_flops" in given):
        raise UsageError("a time needs both speeds, bandwidth and peak_flops", "bandwidth")
    generate = _core.GenerateOptions()
    generate.prompt, generate.tokens = _generation(asked)
    for name in given:
        setattr(generate, OF_GENERATION[name], keywords[name])
    return generate


def _generation(asked: str | Sequence[int]) -> tuple[int, int]:
    parts = asked.split("+") if isinstance(asked, str) else asked
    try:
        prompt, tokens = map(int, parts)
    except ValueError:
        prompt, tokens = 0, 0
    if prompt < 1 or tokens < 1:
        raise UsageError(
            f"{asked!r} is not the tokens of a prompt and those that follow",
            "generate",
            "Write it as generate=(512, 128).",
        )
    return prompt, tokens


def _amp_options(keywords: Mapping[str, Any]) -> _core.AmpOptions:
    amp = _core.AmpOptions()
    if (low := keywords.get("amp")) is not None:
        amp.dtype = _chosen(LOW, low, "amp")
    if (policy := keywords.get("amp_policy")) is not None:
        amp.policy = _chosen(POLICIES, policy, "amp_policy")
        if amp.dtype is None:
            raise UsageError("nothing is cast without autocast", "amp_policy", 'Add amp="bf16".')
    hints = current_type_hints() if amp.dtype is not None else {}
    amp.casts = cast_overrides({**hints, **(keywords.get("cast") or {})})
    return amp


def cast_overrides(casts: Mapping[str, Any]) -> list[_core.CastOverride]:
    """Dtypes by names of operators and patterns of modules, as the core takes them."""
    overrides = []
    for name, dtype in casts.items():
        wanted = _dtype(dtype)
        if wanted is None:
            raise UsageError(f"{name} is cast to nothing", "cast", "Name a dtype: float32.")
        overrides.append(_core.CastOverride(name, wanted))
    return overrides


def _optimizer_options(options: Mapping[str, object]) -> list[_core.OptimizerOption]:
    return [_core.OptimizerOption(name, str(value)) for name, value in options.items()]


def _groups(keywords: Mapping[str, Any]) -> list[_core.ParameterGroup]:
    groups = []
    for pattern, options in (keywords.get("groups") or {}).items():
        others = {name: value for name, value in options.items() if name != "optimizer"}
        optimizer = str(options.get("optimizer", ""))
        groups.append(_core.ParameterGroup(pattern, optimizer, _optimizer_options(others)))
    for pattern in _patterns(keywords.get("no_decay") or (), "no_decay"):
        without = [_core.OptimizerOption("weight_decay", "0")]
        groups.append(_core.ParameterGroup(pattern, "", without))
    return groups


def _patterns(patterns: Iterable[str] | str, name: str) -> list[str]:
    if isinstance(patterns, str):
        raise UsageError("patterns are a list", name, f"Write {name}=[{patterns!r}].")
    found = list(patterns)
    if not all(map(_is_text, found)):
        raise UsageError(f"{found!r} is not a list of patterns", name)
    return found


def _within(value: int, least: int, most: int | None, name: str) -> int:
    value = index(value)
    if most is None and value > LARGEST:
        raise UsageError(f"{value} is too large a number", name)
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"{least} to {most}"
        raise UsageError(f"{value} is out of range: it is {limits}", name)
    return value


def _chosen(choices: Mapping[str, T], value: str, name: str) -> T:
    if value not in choices:
        import difflib

        close = difflib.get_close_matches(value, choices, n=2)
        hint = (
            f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(choices)}."
        )
        raise UsageError(f'there is no "{value}"', name, hint)
    return choices[value]


def _bytes(size: int | str | None, name: str) -> int | None:
    if not isinstance(size, str):
        return size
    read = _core.parse_bytes(size)
    if read is None or size[-1:].isdigit():
        raise UsageError(f'"{size}" is no amount of memory', name, "Write it as 80GB or 80GiB.")
    return read


def _dtype(dtype: str | _core.DType | None) -> _core.DType | None:
    if dtype is None or isinstance(dtype, _core.DType):
        return dtype
    named = _core.dtype_named(str(dtype).removeprefix("torch."))
    if named is None:
        raise NotFoundError(
            f'there is no dtype "{dtype}"', "dtype", "Name it as PyTorch does: bfloat16."
        )
    return named
