# SPDX-License-Identifier: Apache-2.0
"""What a watched model was to cost, beside what it did.

It is exported on the arguments of its first call and weighed, and each difference is told with what
is known of its reason. Of the arguments only sizes are kept. How long a step takes on this
processor nothing predicts: times are those that were measured.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from steelyard import _core
from steelyard.data_parallel import aligned
from steelyard.errors import SteelyardError, UsageError
from steelyard.weighing import weigh

if TYPE_CHECKING:
    import torch

# What wraps a model puts its name before the paths.
WRAPPERS = {"DistributedDataParallel": "module", "OptimizedModule": "_orig_mod"}
CLOSE = 0.02


class Example:
    """The first call of a model, or the first that trains it: what it was given, by sizes, and how
    it was trained."""

    def __init__(self) -> None:
        self.model: torch.nn.Module | None = None
        self.training = False
        self.has_loss = False
        self.amp: str | None = None  # the dtype of torch.autocast around the call
        self.optimizer: str | None = None
        self.options: dict[str, object] = {}  # of the optimizer, other than its defaults
        self._given: tuple[Any, Mapping[str, Any]] | None = None
        self._ended = False
        self._passes = 0  # that train, since an optimizer's step
        self._has_trained = False
        self._passes_of_step: Counter[int] = Counter()

    def given(self, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        """Hears of calls of models. A validation may come before all that trains."""
        if self.model not in (None, module):
            return
        trains = _trains(module)
        self._passes += trains
        if self.model is not None and (self._has_trained or not trains):
            return
        self._has_trained, self._ended = trains, False
        self.model, self.training = module, module.training
        self._given = _sizes((tuple(args), dict(kwargs or {})))
        self.amp = _autocast_around(module)

    def gave(self, module: torch.nn.Module, result: Any) -> None:
        if module is not self.model or self._ended:
            return
        import torch

        self._ended = True
        leaves = torch.utils._pytree.tree_leaves(result)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        # Models that are given labels return their loss first.
        self.has_loss = bool(tensors) and tensors[0].dim() == 0

    def optimized(self, optimizer: torch.optim.Optimizer) -> None:
        if self.optimizer is None:
            self.optimizer = type(optimizer).__name__
            self.options = _options(optimizer)
        if self._passes > 0:
            self._passes_of_step[self._passes] += 1
            self._passes = 0

    def weighed(self, report: dict[str, Any]) -> dict[str, Any]:
        """The report of the model, weighed as it was run."""
        if self.model is None or self._given is None:
            raise UsageError("no model was called", "predict", "Call one, or leave it away.")
        args, kwargs = self._given
        model = self.model
        while type(model).__name__ in WRAPPERS:
            model = getattr(model, WRAPPERS[type(model).__name__])
        keywords: dict[str, Any] = {"mode": "train" if self.training else "eval"}
        if self.amp is not None:
            keywords["amp"] = self.amp
        if not any(step["backward"] > 0 for step in report["steps"]):
            return weigh(model, args, kwargs, **keywords).data
        keywords |= self._training(report)
        try:
            return weigh(model, args, kwargs, optim_args=self.options, **keywords).data
        except SteelyardError:
            if not self.options:
                raise
            # One of them the row may not have.
            return weigh(model, args, kwargs, **keywords).data

    def _training(self, report: dict[str, Any]) -> dict[str, Any]:
        name = (self.optimizer or "sgd").lower()
        if name not in _core.optimizers():
            raise UsageError(f"of the optimizer {self.optimizer} there is no row", "predict")
        keywords = {"train": name} | ({} if self.has_loss else {"loss": "sum"})
        # Validations between them are no part of most steps.
        usual = self._passes_of_step.most_common(1)
        passes = usual[0][0] if usual else _calls(report)
        return keywords | ({"accumulate": passes} if passes > 1 else {})

    @property
    def prefix(self) -> str:
        """What stands before the paths of the model that was weighed."""
        words, model = [], self.model
        while type(model).__name__ in WRAPPERS:
            words.append(WRAPPERS[type(model).__name__])
            model = getattr(model, words[-1])
        return ".".join(words)


def _options(optimizer: torch.optim.Optimizer) -> dict[str, object]:
    """Of the first group of parameters, those that its class does not have by default."""
    known = inspect.signature(type(optimizer).__init__).parameters
    return {
        name: value
        for name, value in optimizer.param_groups[0].items()
        if name in known and isinstance(value, (bool, int, float)) and value != known[name].default
    }


def _trains(module: torch.nn.Module) -> bool:
    """Whether a call of it is one of training, and not what runs again in a backward pass."""
    import torch

    recomputes = torch._C._current_graph_task_id() != -1
    return module.training and torch.is_grad_enabled() and not recomputes


def _autocast_around(module: torch.nn.Module) -> str | None:
    """`bf16` or `fp16` where torch.autocast is at work for the device of the module."""
    import torch

    device = next((parameter.device.type for parameter in module.parameters()), "cpu")
    if not torch.is_autocast_enabled(device):
        return None
    return {torch.bfloat16: "bf16", torch.float16: "fp16"}.get(torch.get_autocast_dtype(device))


def _sizes(values: Any) -> Any:
    import torch

    return torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda tensor: torch.empty_like(tensor.detach(), device="meta"), values
    )


def _calls(report: dict[str, Any]) -> int:
    """Of the model, in a step."""
    root = next((row for row in report["modules"] if row["path"] == ""), None)
    return 1 if root is None else max(round(root["calls"]), 1)


class Prediction:
    """Both reports, put together: `print` it, or ask for `data`."""

    def __init__(self, example: Example, report: dict[str, Any]) -> None:
        self._example, self._report = example, report

    @cached_property
    def data(self) -> dict[str, Any]:
        """`problem` says why there is none; else `flops`, `memory`, `modules` and `reasons`."""
        try:
            weighed = self._example.weighed(self._report)
        except SteelyardError as error:
            return {"problem": str(error)}
        return _together(self._report, weighed, self._example)

    def __str__(self) -> str:
        return told(self.data)


def _together(report: dict[str, Any], weighed: dict[str, Any], example: Example) -> dict[str, Any]:
    whole = {"measured": _work(report), "predicted": _work(weighed)}
    categories = weighed["memory"]["at_peak"]
    measured = report["memory"]["at_peak"]
    memory = {
        name: {"measured": measured.get(name, 0), "predicted": categories.get(name, 0)}
        for name in dict.fromkeys([*categories, *measured])
    }
    memory["peak"] = {
        "measured": report["memory"]["peak"],
        "predicted": weighed["memory"]["peak"],
    }
    modules = _modules(report, weighed, example.prefix)
    data = {
        "flops": whole,
        "seconds": {"measured": _median_step(report), "predicted": None},
        "memory": memory,
        "modules": modules,
    }
    return data | {"reasons": _reasons(data, report, weighed, example)}


def _work(report: dict[str, Any]) -> int:
    flops = report.get("flops", {})
    return sum(int(flops.get(phase, 0)) for phase in ("forward", "backward", "recompute"))


def _median_step(report: dict[str, Any]) -> float:
    seconds = sorted(s["seconds"] for s in report["steps"][report["first_counted_step"] :])
    return float(seconds[len(seconds) // 2])


def _modules(report: dict[str, Any], weighed: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    predicted = {row["path"]: row for row in weighed["modules"]}
    out = []
    for row in report["modules"]:
        path = row["path"]
        if prefix and path != prefix and not path.startswith(f"{prefix}."):
            continue
        path = path[len(prefix) :].removeprefix(".")
        if path == "(outside)" or (path == "" and not prefix and row["depth"] > 0):
            continue
        other = predicted[path] if path in predicted else _container(path, predicted)
        out.append(
            {
                "path": path,
                "class": row["class"],
                "parameters": _both(
                    row["parameters"], None if other is None else other["parameters"]
                ),
                "flops": _both(_work(row), None if other is None else other["flops"]),
                "seconds": row["seconds"]["forward"]
                + row["seconds"]["backward"]
                + row["seconds"]["recompute"],
                "recomputed": row["seconds"]["recompute"] > 0,
                "calls": row["calls"],
            }
        )
    return out


def _container(path: str, predicted: Mapping[str, Any]) -> Mapping[str, int] | None:
    """What is in a module that nobody calls, such as a ModuleList, is its own."""
    inside = [p for p in predicted if p.startswith(f"{path}.")]
    outermost = [p for p in inside if not any(p.startswith(f"{other}.") for other in inside)]
    if not outermost:
        return None
    return {key: sum(predicted[p][key] for p in outermost) for key in ("parameters", "flops")}


def _both(measured: int, predicted: int | None) -> dict[str, int | None]:
    return {"measured": measured, "predicted": predicted}


def _differ(both: Mapping[str, Any]) -> bool:
    measured, predicted = both["measured"], both["predicted"]
    return predicted is None or abs(measured - predicted) > CLOSE * max(measured, predicted)


def _reasons(
    data: dict[str, Any], report: dict[str, Any], weighed: dict[str, Any], example: Example
) -> list[str]:
    """Why the two differ, as far as the reports show it."""
    out = []
    again = [row["path"] for row in data["modules"] if row["recomputed"] and row["path"]]
    if again and _differ(data["flops"]):
        out.append(f"computed again in the backward pass, which was not asked of it: {again[0]}")
    missing = [
        row["path"] or row["class"]
        for row in data["modules"]
        if row["flops"]["predicted"] is None and row["calls"] > 0
    ]
    if missing:
        out.append(f"not in what was exported: {', '.join(missing[:4])}")
    if any(remark.startswith("torch.compile made") for remark in report["remarks"]):
        out.append("of what torch.compile has made the whole is measured, not its modules")
    if report.get("unmodelled"):
        names = ", ".join(op["op"] for op in report["unmodelled"][:4])
        out.append(f"measured work is at least this: of {names} none is known")
    if weighed["unmodelled"]:
        names = ", ".join(op["op"] for op in weighed["unmodelled"][:4])
        out.append(f"predicted work is at least this: of {names} none is known")
    outside = next(row for row in report["modules"] if row["path"] == "(outside)")
    if _work(outside) > 0:
        out.append("work outside of all modules, as of a loss, is measured only")
    return out + _reasons_of_memory(data["memory"], example)


# Why a category may differ; which it is the reports do not show.
CAUSES = {
    "parameters": "other models, or tensors that the program did not export, lie there",
    "buffers": "buffers of what wraps the model are measured, too",
    "inputs": "batches that the program still holds are measured, too",
    "outputs": "of the outputs the program holds more or less than the model returns",
    "gradients": "gradients are there at another moment of the step",
    "optimizer_state": "the state of the optimizer is of other options",
    "activations": "the loss is the program's own, and what it saves",
    "temporaries": "the peak lies at another moment, or the optimizer has other options",
}


def _reasons_of_memory(memory: dict[str, dict[str, int]], example: Example) -> list[str]:
    out = []
    for name, both in memory.items():
        if name == "peak" or not _differ(both) or name not in CAUSES:
            continue
        if max(both.values()) * 50 < max(memory["peak"].values()):
            continue
        out.append(f"{name.replace('_', ' ')}: perhaps {CAUSES[name]}")
    if out and not example.has_loss:
        out.append("the loss is weighed as a sum of what the model returns")
    return out


def told(data: dict[str, Any], depth: int = 2) -> str:
    """For people."""
    if "problem" in data:
        return f"There is no prediction: {data['problem']}\n"
    flops, size, seconds = _core.Unit.FLOPS, _core.Unit.BYTES, _core.Unit.SECONDS
    rows = [("Predicted and measured", "predicted", "measured", "difference")]
    rows.append(("  work of a step", *_pair(data["flops"], flops)))
    rows.append(("  peak of memory", *_pair(data["memory"]["peak"], size)))
    for name, both in data["memory"].items():
        if name != "peak" and max(both.values()) > 0:
            rows.append((f"    {name.replace('_', ' ')}", *_pair(both, size)))
    step = _core.format(float(data["seconds"]["measured"]), seconds)
    rows.append(("  time of a step", "unknown", step, ""))
    lines = [*aligned(rows), ""]
    by_module = [("By module", "predicted work", "measured", "difference", "time measured")]
    for row in data["modules"]:
        if row["path"] and row["path"].count(".") < depth:
            time = _core.format(float(row["seconds"]), seconds)
            by_module.append((f"  {row['path']}", *_pair(row["flops"], flops), time))
    lines += [*aligned(by_module), ""] if len(by_module) > 1 else []
    return "\n".join(lines + [f"Difference: {reason}" for reason in data["reasons"]]) + "\n"


def _pair(both: Mapping[str, Any], unit: _core.Unit) -> tuple[str, str, str]:
    measured, predicted = both["measured"], both["predicted"]
    if predicted is None:
        return "none", _core.format(int(measured), unit), ""
    more = ""
    if measured != predicted and predicted > 0:
        more = _core.format(measured / predicted - 1, _core.Unit.PERCENT, sign=_core.Sign.ALWAYS)
    elif measured == predicted:
        more = "none"
    return _core.format(int(predicted), unit), _core.format(int(measured), unit), more
