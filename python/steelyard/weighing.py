# SPDX-License-Identifier: Apache-2.0
"""Weighing models and comparing them: what `steelyard weigh` and `steelyard compare` are."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from steelyard import _core
from steelyard.errors import SteelyardError, UsageError
from steelyard.options import WeighKeywords, weigh_options

if TYPE_CHECKING:
    import pandas
    import torch

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    Model: TypeAlias = (
        Path | _core.Program | Mapping[str, Any] | torch.nn.Module | torch.export.ExportedProgram
    )

# What of a module is weighed: what it does when it runs, or what torch.export makes of it.
PATHS = ("module", "exported")
UNITS = {
    "auto": _core.UnitStyle.AUTO,
    "decimal": _core.UnitStyle.DECIMAL,
    "exact": _core.UnitStyle.EXACT,
}


class Weighing:
    """A weighed model.

    Attributes:
        totals: the numbers that most callers want, as integers: bytes, elements, operations.
    """

    def __init__(self, core: _core.Weighing) -> None:
        self._core = core

    @property
    def totals(self) -> _core.Totals:
        return self._core.totals

    @property
    def elapsed_seconds(self) -> float:
        """What weighing took; without PyTorch's export, where there was one."""
        return self._core.elapsed_seconds

    @property
    def times(self) -> list[_core.StageTime]:
        """What reading, each pass, the simulated run and the analyses took of it."""
        return self._core.times

    @property
    def fit(self) -> _core.Fit | None:
        """What the search for the largest size found, where `fit` was given."""
        return self._core.fit

    @property
    def baseline(self) -> _core.Baseline | None:
        """What the same costs without mixed precision, where `amp` was given."""
        return self._core.baseline

    @property
    def advice(self) -> list[_core.Advice]:
        """Changes that lower the peak, the lowest first, where `advise` was given."""
        return self._core.advice

    @cached_property
    def data(self) -> dict[str, Any]:
        """The report as plain values: docs/report.schema.json says what they are."""
        return dict(json.loads(self.report("json")))

    def report(
        self,
        format: str = "text",
        *,
        depth: int = 2,
        top: int = 10,
        classes: bool = False,
        detailed: bool = False,
        events: bool = False,
        timings: bool = False,
        table: str = "modules",
        units: str = "auto",
        width: int = 0,
    ) -> str:
        """Returns the report in a format, one of `steelyard.report_formats()`.

        `table` is what CSV holds, and JSON gets it besides: one of `steelyard.report_tables()`.
        """
        options = _core.ReportOptions()
        options.depth, options.top, options.table = depth, top, table
        options.classes, options.detailed = classes, detailed
        options.events, options.timings = events, timings
        return self._core.write_report(format, options, _look(units, width, table))

    @property
    def events(self) -> list[tuple[str, int, str]]:
        """Every allocation and free in order: the operator, signed bytes, and the module."""
        report = json.loads(self.report("json", events=True))
        return [(name, size, module) for name, size, module in report["memory"]["events"]]

    def to_dicts(self, table: str = "modules") -> list[dict[str, Any]]:
        """Returns a table of the report, one of `steelyard.report_tables()`, row by row."""
        if table not in (known := _core.report_tables()):
            raise UsageError(f'there is no "{table}"', "table", f"There are: {', '.join(known)}.")
        rows: list[dict[str, Any]] = json.loads(self.report("json", table=table))[table]
        return rows

    def to_pandas(self, table: str = "modules") -> pandas.DataFrame:
        """Returns a table of the report, one of `steelyard.report_tables()`; needs pandas."""
        return _frame(self.report("csv", table=table))

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Weighing cannot be pickled or copied: take its numbers, `weighing.data`, or a report"
        )

    def __repr__(self) -> str:
        totals = self.totals
        known = totals.modelled_operators == totals.operators
        least = "" if known else "at least "
        return (
            f"<Weighing: {_core.format(totals.parameter_count, _core.Unit.COUNT)} parameters, peak "
            f"{least}{_core.format(totals.peak_bytes, _core.Unit.BYTES)}, forward pass "
            f"{least}{_core.format(totals.forward_flops, _core.Unit.FLOPS)}>"
        )

    def _repr_html_(self) -> str:
        from steelyard import html

        return html.written(self._core.describe(_core.ReportOptions()).body)


class Comparison:
    """Two models or reports side by side."""

    def __init__(self, document: _core.Document) -> None:
        self._document = document

    @cached_property
    def data(self) -> dict[str, Any]:
        """The comparison as plain values: docs/comparison.schema.json says what they are."""
        return dict(json.loads(self.report("json")))

    def report(
        self,
        format: str = "text",
        *,
        table: str = "modules",
        units: str = "auto",
        width: int = 0,
    ) -> str:
        """Returns the comparison as text, json or csv."""
        return self._document.render(format, _look(units, width, table))

    def to_pandas(self, table: str = "totals") -> pandas.DataFrame:
        """Returns one of its tables: totals, categories, modules, operators; needs pandas."""
        return _frame(self.report("csv", table=table))

    def _repr_html_(self) -> str:
        from steelyard import html

        return html.written(self._document.body)


def weigh(
    model: Model,
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    as_: str | None = None,
    **keywords: Unpack[WeighKeywords],
) -> Weighing:
    """Weighs a model: what it costs, without running it.

    `model` is the path of a file or Hub folder, a config as a dictionary or as transformers has it,
    a program that was built or loaded, an `ExportedProgram`, or an `nn.Module`. A module is traced
    with example inputs,
    `args` and `kwargs`; it keeps its mode and its state, and its weights are neither read nor
    copied. Libraries may take another path while they are traced: `as_="module"`, the default, is
    the one that they take when they run, `as_="exported"`, the default for files, the one that
    `torch.export` sees.

    Raises a `SteelyardError` that says what is wrong, where, and what would help.
    """
    options = weigh_options(keywords)
    if as_ not in (None, *PATHS):
        raise UsageError(f'there is no "{as_}"', "as_", f"There are: {', '.join(PATHS)}.")
    if isinstance(model, (str, bytes, os.PathLike)):
        _refuse_examples(args, kwargs, dynamic_shapes, None)
        options.as_module = as_ == "module"
        options.path = os.fsdecode(model)
        return Weighing(_core.weigh(options))
    if isinstance(model, _core.Program):
        _refuse_examples(args, kwargs, dynamic_shapes, as_)
        return Weighing(_core.weigh(model, options))
    if isinstance(model, Mapping):
        _refuse_examples(args, kwargs, dynamic_shapes, as_)
        return _weigh_config(model, options)
    if (config := _config_of(model)) is not None:
        _refuse_examples(args, kwargs, dynamic_shapes, as_)
        return _weigh_config(config, options)
    bridge = _bridge_for(model)
    mode = keywords.get("mode", "exported")
    train = options.train
    # What is compiled has no frames of Python's.
    options.hold_variables = bridge.runs(model, as_) and options.runtime == "eager"
    program = bridge.program_of(
        model,
        args,
        kwargs,
        dynamic_shapes,
        mode,
        as_,
        train,
        options.hold_variables,
        device=options.device,
    )
    options.train = train
    options.path = type(model).__name__
    return Weighing(_core.weigh(program, options))


def compare(
    a: Path,
    b: Path,
    *,
    depth: int = 2,
    top: int = 10,
    **keywords: Unpack[WeighKeywords],
) -> Comparison:
    """Puts two files side by side, each a model or a report that was stored as JSON."""
    options = _core.CompareOptions()
    options.a, options.b = os.fsdecode(a), os.fsdecode(b)
    options.weigh = weigh_options(keywords)
    options.asked = [f"--{name.replace('_', '-')}" for name in keywords]
    options.depth, options.top = depth, top
    return Comparison(_core.compare(options))


def load(path: Path, importer: str = "") -> _core.Program:
    """Returns the program in a file, to be weighed any number of times."""
    return _core.import_file(os.fsdecode(path), importer)


def _bridge_for(model: object) -> Any:
    """The part that knows PyTorch, which a model of PyTorch has imported before us."""
    if "torch" in sys.modules:
        from steelyard import torch_bridge

        if torch_bridge.takes(model):
            return torch_bridge
    if isinstance(model, type):
        name = model.__name__
        raise TypeError(f"{name} is a class: pass a module of it, {name}(...)")
    raise TypeError(
        f"{type(model).__name__} is no kind of model: pass a path, a config as a dictionary, a "
        "program, an ExportedProgram or an nn.Module"
    )


def _config_of(model: object) -> Mapping[str, Any] | None:
    """What a `PretrainedConfig` of transformers would write as config.json."""
    write = getattr(model, "to_json_string", None)
    if isinstance(model, type) or not callable(write) or not hasattr(model, "model_type"):
        return None
    return dict(json.loads(write(use_diff=False)))


def _weigh_config(config: Mapping[str, Any], options: _core.WeighOptions) -> Weighing:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        options.path = os.path.join(folder, "config.json")  # noqa: PTH118
        with open(options.path, "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump(dict(config), file)
        try:
            return Weighing(_core.weigh(options))
        except SteelyardError as error:
            # The caller knows of no file.
            where = error.where.replace(options.path, "config", 1)
            raise type(error)(error.message, where, error.hint) from None


def _refuse_examples(args: Any, kwargs: Any, dynamic_shapes: Any, as_: Any) -> None:
    if as_ is not None:
        raise UsageError("only an nn.Module is weighed as one", "as_")
    if args is None and kwargs is None and dynamic_shapes is None:
        return
    raise UsageError(
        "only an nn.Module is traced with example inputs",
        "args",
        'Say the sizes of a program\'s inputs with inputs={"input_ids": (32, 128)}.',
    )


def _look(units: str, width: int, table: str) -> _core.RenderOptions:
    if units not in UNITS:
        raise UsageError(f'there is no "{units}"', "units", f"There are: {', '.join(UNITS)}.")
    look = _core.RenderOptions()
    look.units, look.width, look.table = UNITS[units], width, table
    return look


def _frame(csv: str) -> pandas.DataFrame:
    import io

    import pandas

    frame = pandas.read_csv(io.StringIO(csv), keep_default_na=False, na_values=[""])
    texts = [name for name in frame if not pandas.api.types.is_numeric_dtype(frame[name])]
    return frame.fillna(dict.fromkeys(texts, ""))
