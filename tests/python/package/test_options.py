# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest
from steelyard import CustomTypeHint, DType, NotFoundError, UsageError, _core
from steelyard.options import CHECKS, WeighKeywords, weigh_options


def test_limits_are_the_command_lines() -> None:
    most = _core.MOST_LOSS_CHUNKS
    given = {"train": "sgd", "loss": "cross-entropy"}
    assert weigh_options({**given, "fused_loss": most}).train.fused_loss == most
    with pytest.raises(UsageError, match=f"0 to {most}"):
        weigh_options({**given, "fused_loss": most + 1})


def test_devices_are_told_apart_by_commas() -> None:
    assert weigh_options({"devices": "h100,l4"}).devices == ["h100", "l4"]
    assert weigh_options({"devices": ["h100,l4", "t4"]}).devices == ["h100", "l4", "t4"]


def test_defaults_are_the_librarys() -> None:
    options, library = weigh_options({}), _core.WeighOptions()
    for name in ("runtime", "schedule", "count", "strict", "advise", "fit", "budget", "at", "mode"):
        assert getattr(options, name) == getattr(library, name)
    for name in ("optimizer", "loss", "accumulate", "fused_loss", "keep_gradients", "freeze"):
        assert getattr(options.train, name) == getattr(library.train, name)


def test_sizes() -> None:
    bind = weigh_options({"inputs": {"ids": (2, 128)}, "sizes": {"u0": 7}, "batch": 3}).bind
    assert [(shape.name, shape.sizes) for shape in bind.inputs] == [("ids", [2, 128])]
    assert [(symbol.name, symbol.size) for symbol in bind.sizes] == [("u0", 7)]
    assert (bind.batch, bind.seq) == (3, None)


def test_training() -> None:
    train = weigh_options(
        {
            "train": "adamw",
            "optim_args": {"amsgrad": True, "weight_decay": 0.1},
            "groups": {"*.bias": {"optimizer": "sgd", "momentum": 0.9}},
            "no_decay": ["*.norm"],
            "zero_grad": "zeros",
        }
    ).train
    assert [(o.name, o.value) for o in train.options] == [
        ("amsgrad", "True"),
        ("weight_decay", "0.1"),
    ]
    first, second = train.groups
    assert (first.pattern, first.optimizer) == ("*.bias", "sgd")
    assert [(o.name, o.value) for o in first.options] == [("momentum", "0.9")]
    assert [(o.name, o.value) for o in second.options] == [("weight_decay", "0")]
    assert train.keep_gradients


def test_devices() -> None:
    options = weigh_options({"device": "h100", "devices": "all", "alloc_conf": "recommend"})
    assert (options.device, options.devices, options.alloc_conf) == ("h100", ["all"], ["recommend"])
    several = weigh_options({"alloc_conf": ["", "expandable_segments:True"]})
    assert several.alloc_conf == ["", "expandable_segments:True"]
    assert weigh_options({"device": "h100", "fit": "device"}).fit == options.device_memory
    with pytest.raises(UsageError, match="memory of a cpu"):
        weigh_options({"fit": "device"})


def test_memory_and_dtypes() -> None:
    options = weigh_options({"fit": "80GB", "budget": "2KiB", "dtype": "torch.bfloat16"})
    assert (options.fit, options.budget) == (80 * 10**9, 2 * 2**10)
    assert options.dtype == DType.BFLOAT16


def casts_of(keywords: WeighKeywords) -> dict[str, DType]:
    return {cast.of: cast.dtype for cast in weigh_options(keywords).amp.casts}


def test_type_hints_hold_while_they_are_entered() -> None:
    given: WeighKeywords = {"amp": "bf16"}
    with CustomTypeHint({"aten::softmax": "float32", "head.*": "float32"}):
        with CustomTypeHint({"head.*": "bfloat16"}):
            assert casts_of(given) == {"aten::softmax": DType.FLOAT32, "head.*": DType.BFLOAT16}
            own: WeighKeywords = {"amp": "bf16", "cast": {"head.*": "float16"}}
            assert casts_of(own)["head.*"] == DType.FLOAT16
            assert casts_of({}) == {}  # nothing is cast without autocast
        assert casts_of(given)["head.*"] == DType.FLOAT32
    assert casts_of(given) == {}


def test_mixed_precision() -> None:
    assert weigh_options({}).amp.dtype is None
    amp = weigh_options({"amp": "bf16", "cast": {"aten::softmax": "float32"}}).amp
    assert amp.dtype == DType.BFLOAT16
    assert [(cast.of, cast.dtype) for cast in amp.casts] == [("aten::softmax", DType.FLOAT32)]


def test_a_limit_of_zero_clips() -> None:
    train = weigh_options({"train": "sgd", "clip_norm": 0.0, "clip_value": 0}).train
    assert train.clip_norm == 0 and train.clip_value == 0
    train = weigh_options({"train": "sgd", "clip_norm": False}).train
    assert train.clip_norm is None and train.clip_value is None
    assert weigh_options({"train": "sgd", "clip_norm": True}).train.clip_norm == 1


@pytest.mark.parametrize(
    ("keywords", "kind", "text"),
    [
        ({"bach": 3}, TypeError, "Did you mean 'batch'?"),
        ({"loss": "mse"}, UsageError, "but no optimizer. Name it with train."),
        ({"fit": "much"}, UsageError, 'fit: "much" is no amount of memory'),
        ({"mode": "sleep"}, UsageError, "There are: exported, train, eval."),
        ({"train": "sgd", "freeze": "a.b"}, UsageError, r"Write freeze=\['a.b'\]"),
        ({"train": "sgd", "accumulate": 0}, UsageError, "at least 1"),
        ({"train": "sgd", "fused_loss": 65_537}, UsageError, "0 to 65536"),
        ({"train": "sgd", "loss_output": -1}, UsageError, "at least 0"),
        *(
            ({"train": "sgd", name: 2**40}, UsageError, f"{name}: {2**40} is too large a number")
            for name in ("accumulate", "ranks", "loss_output")
        ),
        (
            {"train": "sgd", "parallel": "zero1", "ranks": 2, "rank": 2**40},
            UsageError,
            "rank: .* is too large a number",
        ),
        ({"loss_output": 1}, UsageError, "but no optimizer. Name it with train."),
        ({"train": "sgd", "clip_norm": -1.0}, UsageError, "a number that is not negative"),
        ({"train": "sgd", "clip_norm": float("nan")}, UsageError, "not negative"),
        ({"train": "sgd", "clip_value": float("inf")}, UsageError, "a finite number"),
        ({"amp": "int8"}, UsageError, "There are: bf16, fp16."),
        ({"dtype": "float33"}, NotFoundError, "there is no dtype"),
        ({"fit": "80"}, UsageError, 'fit: "80" is no amount of memory'),
        ({"batch": "8"}, UsageError, "batch: '8' is not a whole number"),
        ({"batch": 1 << 63}, UsageError, f"batch: {1 << 63} is not a whole number of 64 bits"),
        ({"batch": True}, UsageError, "batch: True is not a whole number"),
        ({"seq": 128.0}, UsageError, "seq: 128.0 is not a whole number"),
        ({"train": True}, UsageError, "train: True is not a text"),
        ({"inputs": {"x": "8x128"}}, UsageError, "inputs: .* is not sizes by name"),
        ({"sizes": {"u0": "7"}}, UsageError, "sizes: .* is not whole numbers by name"),
        ({"strict": "yes"}, UsageError, "strict: 'yes' is not True or False"),
        ({"train": "sgd", "freeze": [3]}, UsageError, "freeze: .* is not a list of patterns"),
        ({"weight_decay": 0.1}, TypeError, 'write optim_args={"weight_decay": 0.01}'),
        ({"fused": True}, TypeError, 'write optim_args={"fused": True}'),
        ({"timings": True}, TypeError, "report.timings=True"),
    ],
)
def test_refusals(keywords: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        weigh_options(keywords)


def test_every_keyword_is_checked() -> None:
    assert set(CHECKS) == set(WeighKeywords.__annotations__) - {"dtype"}  # of which str() is taken


def test_none_is_as_if_not_given() -> None:
    plain = weigh_options(dict.fromkeys(WeighKeywords.__annotations__))
    assert (plain.runtime, plain.count, plain.fit) == ("eager", "torch", None)


def test_each_flag_has_its_keyword(steelyard: str) -> None:
    """What the command line can ask of a model, Python can; but for what is spelled otherwise."""
    import re
    import subprocess

    shown = subprocess.run(
        [steelyard, "compare", "--help"], capture_output=True, text=True, check=True
    )
    flags = {flag.replace("-", "_") for flag in re.findall(r"^  --([a-z-]+)", shown.stdout, re.M)}
    others = {
        "input": "inputs", "size": "sizes", "group": "groups", "from": "importer",
        "momentum": "optim_args", "nesterov": "optim_args", "weight_decay": "optim_args",
        "foreach": "optim_args", "fused": "optim_args", "torch": "torch_release",
    }  # fmt: skip
    of_reports = {"depth", "top", "units", "format", "table", "help", "output"}
    only_so_far = {"device", "as"}
    wanted = {others.get(flag, flag) for flag in flags - of_reports - only_so_far}
    assert wanted and wanted <= set(WeighKeywords.__annotations__)


def test_generation_is_what_the_command_line_calls_it() -> None:
    options = weigh_options(
        {"generate": (512, 128), "beams": 4, "cache": "paged", "block_size": 32}
    ).generate
    assert options is not None
    assert (options.prompt, options.tokens, options.beams) == (512, 128, 4)
    assert (options.store, options.block) == ("paged", 32)
    text = weigh_options({"generate": "512+128", "bandwidth": 3.35e12, "peak_flops": 989e12})
    assert text.generate is not None
    assert (text.generate.tokens, text.generate.bandwidth) == (128, 3.35e12)
    assert weigh_options({}).generate is None


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"beams": 4}, "beams: no text is written"),
        ({"generate": "512"}, "not the tokens of a prompt"),
        ({"generate": (0, 1)}, "not the tokens of a prompt"),
        ({"generate": (5, 1, 1)}, "is not the tokens of a prompt"),
        ({"generate": (5, 1), "block_size": 32}, "only a paged cache has blocks"),
        ({"generate": (5, 1), "bandwidth": 1e12}, "a time needs both speeds"),
        ({"generate": (5, 1), "bandwidth": "fast"}, "a number of bytes or operations"),
    ],
)
def test_generation_that_says_nothing_is_refused(keywords: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        weigh_options(keywords)


def test_wrappers() -> None:
    given: WeighKeywords = {"train": "sgd", "ranks": 8, "parallel": "ddp", "bucket_views": True}
    train = weigh_options(given).train
    assert (train.ranks, train.parallel.wrapper, train.parallel.bucket_mib) == (8, "ddp", 0)
    assert train.parallel.bucket_views
    assert not (train.parallel.find_unused or train.parallel.static_graph)
    more: WeighKeywords = {**given, "find_unused_parameters": True, "static_graph": True}
    assert weigh_options(more).train.parallel.find_unused
    assert weigh_options(more).train.parallel.static_graph
    assert weigh_options({**given, "bucket_cap_mb": 4}).train.parallel.bucket_mib == 4
    with pytest.raises(UsageError, match="no wrapper sums gradients in buckets"):
        weigh_options({"train": "sgd", "bucket_cap_mb": 4})


def test_shards() -> None:
    given: WeighKeywords = {"train": "sgd", "ranks": 8, "parallel": "fsdp"}
    parallel = weigh_options({**given, "shard_units": ["layers.*"]}).train.parallel
    assert (parallel.units, parallel.keep_gathered) == (["layers.*"], False)
    assert weigh_options({**given, "keep_gathered": True}).train.parallel.keep_gathered
    with pytest.raises(UsageError, match="no wrapper gathers parameters"):
        weigh_options({**given, "parallel": "ddp", "keep_gathered": True})
    with pytest.raises(UsageError, match="no wrapper sums gradients in buckets"):
        weigh_options({**given, "bucket_views": True})


def test_what_shards_cast() -> None:
    given: WeighKeywords = {"train": "sgd", "ranks": 8, "parallel": "fsdp"}
    policy: dict[str, object] = {"param_dtype": "bfloat16", "reduce_dtype": "float32"}
    precision = weigh_options({**given, "mp_policy": policy}).train.parallel.precision
    assert (precision.param, precision.reduce) == (_core.DType.BFLOAT16, _core.DType.FLOAT32)
    assert (precision.output, precision.cast_inputs) == (None, True)
    policy = {"cast_forward_inputs": False}
    assert not weigh_options({**given, "mp_policy": policy}).train.parallel.precision.cast_inputs
    with pytest.raises(UsageError, match="is no option of MixedPrecisionPolicy"):
        weigh_options({**given, "mp_policy": {"buffer_dtype": "float32"}})
    with pytest.raises(UsageError, match="no wrapper gathers parameters"):
        weigh_options({**given, "parallel": "ddp", "mp_policy": policy})


def test_what_is_stepped_is_shared_out() -> None:
    given: WeighKeywords = {"train": "sgd", "ranks": 8, "parallel": "zero1"}
    parallel = weigh_options(given).train.parallel
    assert (parallel.rank, parallel.parameter_views) == (None, False)
    parallel = weigh_options({**given, "rank": 0, "parameter_views": True}).train.parallel
    assert (parallel.rank, parallel.parameter_views) == (0, True)
    for words in ({"rank": 0}, {"parameter_views": True}):
        with pytest.raises(UsageError, match="no wrapper shares out what is stepped"):
            weigh_options({**given, "parallel": "ddp", **words})


def test_engine_of_deepspeed() -> None:
    given: WeighKeywords = {"train": "adamw", "ranks": 2, "parallel": "deepspeed2", "rank": 1}
    options: dict[str, object] = {"reduce_bucket_size": 50_000_000, "overlap_comm": True}
    parallel = weigh_options({**given, "parallel_args": options}).train.parallel
    assert parallel.rank == 1
    assert [(one.name, one.value) for one in parallel.arguments] == [
        ("reduce_bucket_size", "50000000"),
        ("overlap_comm", "True"),
    ]
    with pytest.raises(UsageError, match="no wrapper has options of DeepSpeed's JSON"):
        weigh_options({**given, "parallel": "zero1", "parallel_args": options})
    with pytest.raises(UsageError, match="no wrapper sums gradients in buckets"):
        weigh_options({**given, "bucket_views": True})


def test_layers_are_shared() -> None:
    plan = {"*.up": "colwise", "*.down": "rowwise"}
    given: WeighKeywords = {"train": "sgd", "ranks": 8, "parallel": "tp", "tp_plan": plan}
    parallel = weigh_options({**given, "rank": 3}).train.parallel
    assert {entry.pattern: entry.style for entry in parallel.plan} == plan
    assert parallel.rank == 3
    assert weigh_options({"ranks": 2, "parallel": "tp", "tp_plan": plan}).train.ranks == 2

    class Rowwise:
        """As torch's RowwiseParallel, which writes itself as a plan does."""

        def __repr__(self) -> str:
            return "RowwiseParallel(output_layouts=(Shard(dim=1),), use_local_output=True)"

    own = weigh_options({**given, "tp_plan": {"words": Rowwise()}}).train.parallel.plan
    assert [entry.style for entry in own] == [repr(Rowwise())]
    auto = weigh_options({**given, "tp_plan": "auto"}).train.parallel.plan
    assert [(entry.pattern, entry.style) for entry in auto] == [("auto", "")]
    with pytest.raises(UsageError, match="no layer is shared"):
        weigh_options({**given, "tp_plan": {}})
    with pytest.raises(UsageError, match="no wrapper has processes share layers"):
        weigh_options({**given, "parallel": "ddp"})
    with pytest.raises(UsageError, match="no wrapper shares out what is stepped"):
        weigh_options({**given, "parameter_views": True})
