# SPDX-License-Identifier: Apache-2.0
"""Tells what a deep-learning model costs: parameters, memory to the byte, work.

    import steelyard
    weighing = steelyard.weigh("bert.pt2", train="adamw", batch=32)
    print(weighing.report())
    weighing.totals.peak_bytes

Importing it takes milliseconds and imports no other package; only PyTorch's modules need PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steelyard._core import (
    REPORT_SCHEMA,
    VERSION,
    Builder,
    DType,
    Program,
    Totals,
    counting_conventions,
    importers,
    known_ops,
    losses,
    optimizers,
    report_formats,
    report_tables,
    runtimes,
)
from steelyard.errors import (
    ExportError,
    InternalError,
    InvalidInputError,
    NotFoundError,
    SteelyardError,
    UnsupportedError,
    UsageError,
)
from steelyard.model_analysis import (
    TrainingStep,
    append_loss_n_optimizer,
    calc_model_gflops,
    get_param_size,
    get_peak_memory,
    trace_memory,
)
from steelyard.profiling import compare_precisions, profile_model
from steelyard.type_hints import CustomTypeHint
from steelyard.weighing import Comparison, Weighing, compare, load, weigh

if TYPE_CHECKING:
    from steelyard.flops_profiler import FlopsProfiler, get_model_profile
    from steelyard.profiler import profile, record_function, tensorboard_trace_handler
    from steelyard.schedules import schedule
    from steelyard.watching import Watch, WatchReport, watch

__version__ = VERSION

__all__ = [
    "REPORT_SCHEMA",
    "VERSION",
    "Builder",
    "Comparison",
    "CustomTypeHint",
    "DType",
    "ExportError",
    "FlopsProfiler",
    "InternalError",
    "InvalidInputError",
    "NotFoundError",
    "Program",
    "SteelyardError",
    "Totals",
    "TrainingStep",
    "UnsupportedError",
    "UsageError",
    "Watch",
    "WatchReport",
    "Weighing",
    "__version__",
    "append_loss_n_optimizer",
    "calc_model_gflops",
    "compare",
    "compare_precisions",
    "counting_conventions",
    "get_model_profile",
    "get_param_size",
    "get_peak_memory",
    "importers",
    "known_ops",
    "load",
    "losses",
    "optimizers",
    "profile",
    "profile_model",
    "record_function",
    "report_formats",
    "report_tables",
    "runtimes",
    "schedule",
    "tensorboard_trace_handler",
    "trace_memory",
    "watch",
    "weigh",
]

# Who only weighs does not wait for these.
_LATER = {
    "FlopsProfiler": "flops_profiler",
    "get_model_profile": "flops_profiler",
    "profile": "profiler",
    "record_function": "profiler",
    "schedule": "schedules",
    "tensorboard_trace_handler": "profiler",
    "Watch": "watching",
    "WatchReport": "watching",
    "watch": "watching",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"steelyard.{_LATER[name]}"), name)
    globals()[name] = found
    return found
