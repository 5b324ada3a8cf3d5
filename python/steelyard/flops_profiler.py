# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's Flops Profiler, by its names and with its printed lines, fed by what was watched.

What differs from DeepSpeed is told in docs/watch.md: nothing is patched, so nothing is left patched
after an exception; nothing waits for a device; all depths of the tree are printed; and where the
backward pass ran, what it took and computed is told besides.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import UsageError
from steelyard.watched_names import element_count
from steelyard.watching import Watch, WatchReport, watch

if TYPE_CHECKING:
    import torch

# The rules by which calls count: of DeepSpeed 0.19.8, of its version of 2021, of PyTorch's counter.
RULES = ("deepspeed", "deepspeed-2021", "torch")

UNITS = {"T": 1e12, "G": 1e9, "M": 1e6, "K": 1e3, "": 1.0, "m": 1e-3, "u": 1e-6}
SHORT = {"bfloat16": "bfp16", "float16": "fp16", "float32": "fp32", "float64": "fp64"}
RULER = 78
LINE = "{:<70}  {:<8}"


def number_to_string(num: float, units: str | None = None, precision: int = 2) -> str:
    """`3.14 T`: with the unit that fits, or the one that is given, and one space."""
    if units is None:
        size = abs(num)
        fits = (unit for unit, scale in UNITS.items() if size >= scale)
        units = "" if num == 0 else next(fits, "u")
    return f"{round(num / UNITS[units], precision):g} {units}"


def flops_to_string(flops: float, units: str | None = None, precision: int = 2) -> str:
    return number_to_string(flops, _letter(units), precision) + "FLOPS"


def macs_to_string(macs: float, units: str | None = None, precision: int = 2) -> str:
    return number_to_string(macs, _letter(units), precision) + "MACs"


def duration_to_string(seconds: float, units: str | None = None, precision: int = 2) -> str:
    return number_to_string(seconds, _letter(units), precision) + "s"


def bytes_to_string(count: float, units: str | None = None, precision: int = 2) -> str:
    return number_to_string(count, _letter(units), precision) + "B"


def params_to_string(params: float, units: str | None = None, precision: int = 2) -> str:
    """Billions are B."""
    letter = "G" if units == "B" else units
    return number_to_string(params, letter, precision).replace("G", "B").strip()


def _letter(units: str | None) -> str | None:
    """`G` of `GMACs` and `GFLOPS`."""
    if units is None:
        return None
    return next((letter for letter in UNITS if letter and units.startswith(letter)), "")


@dataclass
class _Figures:
    """What a module has and takes."""

    params: int = 0
    bytes: int = 0
    macs: int = 0
    flops: int = 0
    seconds: float = 0
    backward: float = 0  # seconds, too

    def add(self, other: _Figures, sign: int = 1) -> None:
        """Of what is counted: times of modules contain those of what they call."""
        self.params += sign * other.params
        self.bytes += sign * other.bytes
        self.macs += sign * other.macs
        self.flops += sign * other.flops

    def take_away(self, other: _Figures) -> None:
        self.add(other, sign=-1)


class FlopsProfiler:
    """Profiles the forward pass of a model, and its backward pass where that runs, too.

    profiler = steelyard.FlopsProfiler(model)
    profiler.start_profile()
    model(x)
    profiler.stop_profile()
    profiler.print_model_profile()
    profiler.end_profile()
    """

    def __init__(
        self,
        model: torch.nn.Module,
        ds_engine: Any = None,
        recompute_fwd_factor: float = 0.0,
        rules: str = "deepspeed",
    ) -> None:
        if rules not in RULES:
            raise UsageError(f'there is no "{rules}"', "rules", f"There are: {', '.join(RULES)}.")
        self.model = model
        self.ds_engine = ds_engine
        self.recompute_fwd_factor = recompute_fwd_factor
        self.rules = rules
        self.started = False
        self.flops = self.macs = self.params = 0
        self._watch: Watch | None = None
        self._seen = b""  # the record that has been read
        self._within = ""  # where the model is in the one that was called
        self._rows: dict[str, dict[str, Any]] = {}
        self._steps: list[dict[str, Any]] = []
        self._ignored: tuple[type, ...] = ()

    def start_profile(self, ignore_list: Sequence[type] | None = None) -> None:
        """Counts from here on. What was counted before is forgotten."""
        self.stop_profile()
        self.reset_profile()
        self._ignored = tuple(ignore_list or ())
        self._watch = watch(self.model, level="ops").__enter__()
        self.started = True

    def stop_profile(self) -> None:
        """Ends counting; the numbers stay."""
        if self._watch is None:
            return
        session, self._watch = self._watch, None
        session.stop()
        self._seen = b""
        self._take(session.record, whole=True)

    @classmethod
    def of_record(cls, model: torch.nn.Module, record: bytes, **options: Any) -> FlopsProfiler:
        """What it would have counted of a model that was watched: of a step of those that count.
        Of an engine of DeepSpeed's it tells what that would have told of its module."""
        is_engine = hasattr(model, "train_micro_batch_size_per_gpu") and hasattr(model, "module")
        if is_engine:
            profiler = cls(model.module, ds_engine=model, **options)
            profiler._within = "module"
        else:
            profiler = cls(model, **options)
        profiler._take(record, whole=False)
        profiler.started = True
        return profiler

    def _look(self) -> None:
        """What was counted until now, where it goes on."""
        if self._watch is None:
            return
        record = self._watch.record_until_now
        if record != self._seen:
            self._seen = record
            self._take(record, whole=True)

    def _take(self, record: bytes, *, whole: bool) -> None:
        data = WatchReport(record, count=self.rules, whole=whole).data
        roots = [row for row in data["modules"] if row["path"] == ""]
        # Of other models that ran, too, nothing is told.
        first = data["modules"].index(roots[0])
        end = next(
            (i for i, row in enumerate(data["modules"]) if i > first and row["depth"] == 0), None
        )
        self._rows = _rows_within(data["modules"][first:end], self._within)
        self._steps = data["steps"][data["first_counted_step"] :]

    def reset_profile(self) -> None:
        """Forgets what was counted; where it counts, it goes on from here."""
        self._rows, self._steps, self._seen = {}, [], b""
        if self._watch is not None:
            self._watch.stop()
            self._watch = watch(self.model, level="ops").__enter__()

    def end_profile(self) -> None:
        """Ends counting and forgets the numbers."""
        self.stop_profile()
        self.reset_profile()
        self.started = False

    def get_total_flops(self, as_string: bool = False) -> Any:
        self._look()
        return self._told(self._flops(""), number_to_string, as_string)

    def get_total_macs(self, as_string: bool = False) -> Any:
        self._look()
        return self._told(self._macs(""), macs_to_string, as_string)

    def get_total_duration(self, as_string: bool = False) -> Any:
        self._look()
        return self._told(self._seconds(""), duration_to_string, as_string)

    def get_total_params(self, as_string: bool = False) -> Any:
        return self._told(self._params(""), params_to_string, as_string)

    def is_expert_tensor_parallelism_enabled(self) -> bool:
        modules = self.model.modules()
        return any(getattr(m, "enable_expert_tensor_parallelism", False) for m in modules)

    @staticmethod
    def _told(number: float, say: Any, as_string: bool) -> Any:
        return say(number) if as_string else number

    def _counted(self, path: str, column: str, phase: str) -> int:
        row = self._rows.get(path, {})
        return int(row.get(column, {}).get(phase, 0))

    def _macs(self, path: str, phase: str = "forward") -> int:
        counted = self._counted(path, "counted", phase)
        return counted // 2 if self.rules == "torch" else counted

    def _flops(self, path: str, phase: str = "forward") -> int:
        if self.rules == "deepspeed":
            return self._counted(path, "counted_beside", phase)
        return self._counted(path, "counted", phase) * (1 if self.rules == "torch" else 2)

    def _seconds(self, path: str, phase: str = "forward") -> float:
        return float(self._rows.get(path, {}).get("seconds", {}).get(phase, 0.0))

    def _params(self, path: str) -> int:
        if path == "" and not self._rows:
            return sum(element_count(parameter) for parameter in self.model.parameters())
        return int(self._rows.get(path, {}).get("parameters", 0))

    def print_model_profile(
        self,
        profile_step: int = 1,
        module_depth: int = -1,
        top_modules: int = 1,
        detailed: bool = True,
        output_file: str | None = None,
    ) -> None:
        """Prints what was counted, or writes it to a file. Where counting goes on: until now."""
        if not self.started:
            return
        self._look()
        self.flops, self.macs = self._flops(""), self._macs("")
        self.params = self._params("")
        with _output(output_file) as out:
            for line in self._lines(profile_step, module_depth, top_modules, detailed):
                print(line, file=out)

    def print_model_aggregated_profile(self, module_depth: int = -1, top_modules: int = 1) -> None:
        """Prints which classes of modules have most, depth by depth."""
        if not self.started:
            return
        self._look()
        for line in self._aggregated(module_depth, top_modules):
            print(line)

    def _lines(self, step: int, depth: int, top: int, detailed: bool) -> Iterator[str]:
        yield ""
        yield " DeepSpeed Flops Profiler ".center(RULER, "-")
        yield f"Profile Summary at step {step}:"
        yield "Notations:"
        yield "dp_size, mp_size: ranks that share the data, ranks that share the model"
        yield "params: parameters; MACs: multiply-accumulates; flops: floating-point operations"
        yield "FLOPS: flops per second; fwd, bwd, step: of forward, backward and optimizer"
        yield ""
        yield from self._summary()
        yield from self._aggregated(depth, top)
        if detailed:
            yield from self._tree()
        yield "-" * RULER

    def _summary(self) -> Iterator[str]:
        engine = self.ds_engine
        parallel = getattr(engine, "mp_world_size", 1) if engine is not None else 1
        if engine is not None:
            data_parallel = getattr(engine, "dp_world_size", None)
            if data_parallel is None:
                data_parallel = getattr(engine, "seq_dp_world_size", None)
            micro_batch = engine.train_micro_batch_size_per_gpu()
            yield LINE.format("world size: ", engine.world_size)
            yield LINE.format("data parallel size: ", data_parallel)
            yield LINE.format("model parallel size: ", parallel)
            yield LINE.format("batch size per GPU: ", micro_batch)
            if getattr(engine, "has_moe_layers", False):
                enabled = self.is_expert_tensor_parallelism_enabled()
                yield LINE.format("expert tensor parallelism enabled: ", enabled)
        flops, seconds = self._flops(""), self._seconds("")
        yield from self._parameters(parallel)
        yield LINE.format("fwd MACs per GPU: ", macs_to_string(self._macs("")))
        yield LINE.format("fwd flops per GPU: ", number_to_string(flops))
        yield LINE.format(
            "fwd flops of model = fwd flops per GPU * mp_size: ", number_to_string(flops * parallel)
        )
        yield LINE.format("fwd latency: ", duration_to_string(seconds))
        yield LINE.format(
            "fwd FLOPS per GPU = fwd flops per GPU / fwd latency: ", _speed(flops, seconds)
        )
        yield from self._whole_step(flops, seconds)
        yield from self._measured_backward()

    def _parameters(self, parallel: int) -> Iterator[str]:
        """Of experts each rank has its own; where they are not split in turn all have theirs."""
        params = self._params("")
        experts = _expert_parameters(self.model)
        yield LINE.format("params per GPU: ", params_to_string(params))
        if experts == 0:
            yield LINE.format(
                "params of model = params per GPU * mp_size: ", params_to_string(params * parallel)
            )
            return
        split = parallel if self.is_expert_tensor_parallelism_enabled() else 1
        shared = (params - experts) * parallel
        own = experts * split * max(getattr(self.ds_engine, "expert_parallel_size", 1) or 1, 1)
        yield LINE.format("params of model: ", params_to_string(shared + own))
        yield LINE.format("   non-expert params of model: ", params_to_string(shared))
        yield LINE.format("   expert params of model: ", params_to_string(own))

    def _mean(self, phase: str) -> float:
        return float(sum(step[phase] for step in self._steps) / max(len(self._steps), 1))

    def _whole_step(self, flops: float, forward: float) -> Iterator[str]:
        """What DeepSpeed's engine tells of a step, of which it supposes that the backward pass is
        so many forward passes; here its time is measured."""
        backward, optimizer = self._mean("backward"), self._mean("optimizer")
        if self.ds_engine is None or backward <= 0:
            return
        factor = 2 + self.recompute_fwd_factor
        both = f"{factor + 1:g} * fwd flops per GPU"
        step = forward + backward + optimizer
        yield LINE.format("bwd latency: ", duration_to_string(backward))
        yield LINE.format(
            f"bwd FLOPS per GPU = {factor:g} * fwd flops per GPU / bwd latency: ",
            _speed(factor * flops, backward),
        )
        yield LINE.format(
            f"fwd+bwd FLOPS per GPU = {both} / (fwd+bwd latency): ",
            _speed((factor + 1) * flops, forward + backward),
        )
        yield LINE.format("step latency: ", duration_to_string(optimizer))
        yield LINE.format("iter latency: ", duration_to_string(step))
        yield LINE.format(
            f"FLOPS per GPU = {both} / iter latency: ", _speed((factor + 1) * flops, step)
        )
        # The passes of all micro-batches were measured.
        micro_batches = max(round(self._rows.get("", {}).get("calls", 1)), 1)
        per_rank = self.ds_engine.train_micro_batch_size_per_gpu() * micro_batches
        samples = per_rank * self.ds_engine.world_size
        yield LINE.format("samples/second: ", round(samples / step, 2))

    def _measured_backward(self) -> Iterator[str]:
        """Of the passes that ran between start and stop, what DeepSpeed supposes."""
        backward, optimizer = self._mean("backward"), self._mean("optimizer")
        if backward <= 0:
            return
        # What conventions of calls count is forward only; products are counted in either direction.
        flops = self._counted("", "flops", "backward")
        if self.ds_engine is None:
            yield LINE.format("bwd latency: ", duration_to_string(backward))
        yield LINE.format("measured bwd flops of products per GPU: ", number_to_string(flops))
        speed = _speed(flops, backward)
        yield LINE.format("bwd FLOPS per GPU = measured bwd flops per GPU / bwd latency: ", speed)
        if optimizer > 0 and self.ds_engine is None:
            yield LINE.format("step latency: ", duration_to_string(optimizer))

    def _aggregated(self, depth: int, top: int) -> Iterator[str]:
        yield ""
        yield " Aggregated Profile per GPU ".center(RULER + 8, "-")
        by_depth: dict[int, dict[str, list[float]]] = {}
        for path, row in self._rows.items():
            classes = by_depth.setdefault(row["depth"], {})
            sums = classes.setdefault(row["class"], [0, 0, 0.0])
            sums[0] += self._params(path)
            sums[1] += self._macs(path)
            sums[2] += self._seconds(path)
        deepest = max(by_depth, default=0)
        shown = range(1 + (deepest if depth == -1 else min(depth, deepest)))
        ranked_by = "in terms of params, MACs or fwd latency at different model depths:"
        yield f"Top {top} modules {ranked_by}"
        says = (params_to_string, macs_to_string, duration_to_string)
        names = ("params     ", "MACs       ", "fwd latency")
        for level in shown:
            yield f"depth {level}:"
            classes = by_depth.get(level, {})
            for i, (name, say) in enumerate(zip(names, says, strict=True)):
                ranked = sorted(classes.items(), key=lambda item: item[1][i], reverse=True)
                most = {of: say(sums[i]) for of, sums in ranked[:top]}
                yield f"    {name} - {most}"

    def _tree(self) -> Iterator[str]:
        yield ""
        yield " Detailed Profile per GPU ".center(RULER + 8, "-")
        yield "Each module tells, with its children and before its own settings:"
        yield "params = share of the model's, MACs = share, fwd latency = share, its FLOPS"
        yield ""
        yield from self._module_lines(self.model, self._in_all_places(), "")

    def _in_all_places(self) -> dict[int, _Figures]:
        """By module, without what is in it: what it has and takes, wherever it is. What an ignored
        module takes is what is around it that takes it."""
        modules = dict(self.model.named_modules(remove_duplicate=False))
        own = {path: self._figures_of(path) for path in modules}
        for path in sorted(filter(None, modules), key=len, reverse=True):
            around = own[path.rpartition(".")[0]]
            around.take_away(self._figures_of(path))
            if isinstance(modules[path], self._ignored):
                around.macs += own[path].macs
                around.flops += own[path].flops
                own[path].macs = own[path].flops = 0
        sums: dict[int, _Figures] = {}
        for path, module in modules.items():
            figures = sums.setdefault(id(module), _Figures())
            figures.add(own[path])
            figures.seconds += self._latency(path, modules)
            figures.backward += self._seconds(path, "backward")
        return sums

    def _latency(self, path: str, modules: Mapping[str, torch.nn.Module]) -> float:
        """Of the forward pass; of an ignored module that of what is in it."""
        if not isinstance(modules[path], self._ignored):
            return self._seconds(path)
        before = f"{path}." if path else ""
        return sum(self._latency(before + name, modules) for name, _ in _children(modules[path]))

    def _figures_of(self, path: str) -> _Figures:
        return _Figures(self._params(path), self._bytes(path), self._macs(path), self._flops(path))

    def _module_lines(
        self, module: torch.nn.Module | None, own: dict[int, _Figures], label: str
    ) -> Iterator[str]:
        """As `repr` of a module, with what it has and takes before its own settings. What several
        modules have stands in each of them with all that it takes."""
        if module is None:
            yield f"{label}None"
            return
        words = [self._words(module, own)]
        if extra := module.extra_repr():
            words.append(extra)
        lines = ", ".join(words).splitlines()
        head = f"{label}{type(module).__name__}("
        if not module._modules and len(lines) < 2:
            yield f"{head}{''.join(lines)})"
            return
        yield head
        for line in lines:
            yield f"  {line}"
        for name, child in module._modules.items():
            for line in self._module_lines(child, own, f"({name}): "):
                yield f"  {line}"
        yield ")"

    def _words(self, module: torch.nn.Module, own: dict[int, _Figures]) -> str:
        """What DeepSpeed tells, then what it does not: parameters by dtype, the bytes that they
        take, and the backward pass."""
        here, whole = _Figures(), self._figures_of("")
        for inner in module.modules():
            here.add(own[id(inner)])
        seconds, backward = own[id(module)].seconds, own[id(module)].backward
        words = [
            f"{params_to_string(here.params)} = {_share(here.params, whole.params)}% Params",
            f"{macs_to_string(here.macs)} = {_share(here.macs, whole.macs)}% MACs",
            f"{duration_to_string(seconds)} = {_share(seconds, self._seconds(''))}% latency",
            _speed(here.flops, seconds),
        ]
        if here.params > 0:
            words += [
                *_by_dtype(module),
                f"{bytes_to_string(here.bytes)} = {_share(here.bytes, whole.bytes)}% Memory",
            ]
        if backward > 0:
            words.append(f"bwd {duration_to_string(backward)}")
        return ", ".join(words)

    def _bytes(self, path: str) -> int:
        return int(self._rows.get(path, {}).get("parameter_bytes", 0))


def _rows_within(rows: list[dict[str, Any]], path: str) -> dict[str, dict[str, Any]]:
    """By path, of the module there and what it has, as if it were called by itself."""
    if not path:
        return {row["path"]: row for row in rows}
    deeper = path.count(".") + 1
    return {
        row["path"][len(path) :].removeprefix("."): row | {"depth": row["depth"] - deeper}
        for row in rows
        if row["path"] == path or row["path"].startswith(f"{path}.")
    }


def _children(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """By each of their names."""
    return [(name, child) for name, child in module._modules.items() if child is not None]


def _by_dtype(module: torch.nn.Module) -> list[str]:
    """`475.1 M bfp16`."""
    counts: dict[str, int] = {}
    for parameter in module.parameters():
        name = str(parameter.dtype).removeprefix("torch.")
        name = SHORT.get(name, name)
        counts[name] = counts.get(name, 0) + element_count(parameter)
    return [f"{params_to_string(count)} {name}" for name, count in counts.items()]


def _expert_parameters(model: torch.nn.Module) -> int:
    """Of this rank; DeepSpeed marks what is an expert's."""
    experts = (p for p in model.parameters() if getattr(p, "allreduce", True) is False)
    return sum(element_count(parameter) for parameter in experts)


def get_model_profile(
    model: torch.nn.Module,
    input_shape: tuple[int, ...] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    print_profile: bool = True,
    detailed: bool = True,
    module_depth: int = -1,
    top_modules: int = 1,
    warm_up: int = 1,
    as_string: bool = True,
    output_file: str | None = None,
    ignore_modules: Sequence[type] | None = None,
    mode: str = "forward",
    rules: str = "deepspeed",
) -> tuple[Any, Any, Any]:
    """Returns flops, MACs and parameters of a forward pass, or of `generate`, in evaluation mode.

    The model has the mode that it had when this returns.
    """
    if mode not in ("forward", "generate"):
        raise UsageError(f'there is no "{mode}"', "mode", "There are: forward, generate.")
    args, kwargs = tuple(args), dict(kwargs or {})
    if input_shape is not None:
        if args or kwargs:
            raise UsageError("the inputs are given twice", "input_shape", "Pass it or args.")
        args = (_ones(model, tuple(input_shape)),)
    call = model if mode == "forward" else model.generate
    profiler = FlopsProfiler(model, rules=rules)
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        for _ in range(warm_up):
            call(*args, **kwargs)
        profiler.start_profile(ignore_list=ignore_modules)
        try:
            call(*args, **kwargs)
        finally:
            profiler.stop_profile()
    finally:
        for module, training in modes.items():
            module.training = training
    flops, macs = profiler.get_total_flops(), profiler.get_total_macs()
    params = profiler.get_total_params()
    if print_profile:
        profiler.print_model_profile(
            profile_step=warm_up,
            module_depth=module_depth,
            top_modules=top_modules,
            detailed=detailed,
            output_file=output_file,
        )
    profiler.end_profile()
    if not as_string:
        return flops, macs, params
    return number_to_string(flops), macs_to_string(macs), params_to_string(params)


def _ones(model: torch.nn.Module, shape: tuple[int, ...]) -> torch.Tensor:
    """An input as the first parameter's dtype and device would have it."""
    import torch

    first = next(iter(model.parameters()), torch.empty(0))
    return torch.ones(shape, dtype=first.dtype, device=first.device)


def _share(part: float, whole: float) -> str:
    return f"{round(100 * part / whole, 2) if whole else 0:g}"


def _speed(flops: float, seconds: float) -> str:
    return flops_to_string(flops / seconds if seconds > 0 else 0)


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[Any]:
    if not path:
        yield sys.stdout
        return
    Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)  # as DeepSpeed does
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        yield file
