# SPDX-License-Identifier: Apache-2.0
"""Watching a PyTorch program while it runs.

Hooks that PyTorch has for all modules and all optimizers tell what is called; the engine's
observer, in C++, writes that down beside the nodes of autograd, operators and memory. No module, no
optimizer and no random number is touched, and nothing waits for a device. What it all means is
found out when a report is asked for.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard import _core, engine_library, watch_predict
from steelyard.device_kernels import DeviceKernels
from steelyard.errors import UnsupportedError, UsageError
from steelyard.plain_observer import PlainObserver
from steelyard.watched_names import Names

if TYPE_CHECKING:
    from types import TracebackType

    import torch

    from steelyard.schedules import Schedule

LEVELS = ("light", "ops", "kernels")
DROPPED = "the session was dropped without stop(), and has ended"


class WatchReport:
    """What a program did: `print` it, or ask for another form."""

    def __init__(
        self,
        record: bytes,
        where: str = "the record",
        count: str = "torch",
        *,
        whole: bool = False,
    ) -> None:
        self._core = _core.read_watch(record, where, count, whole)

    def render(
        self, format: str = "text", *, depth: int = 2, top: int = 10, table: str = "modules"
    ) -> str:
        """Returns the report as text, json, csv (the table of that name) or html."""
        if format == "html":
            from steelyard import watch_output

            return watch_output.page(self.document(depth, top))
        look = _core.RenderOptions()
        look.table = table
        return self.document(depth, top).render(format, look)

    def document(self, depth: int = 2, top: int = 10) -> _core.Document:
        """What reports are written from, with so many levels of modules and operators."""
        return self._core.describe(depth, top)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The report as plain values: docs/watch.md says what they are."""
        return dict(json.loads(self.render("json")))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        from steelyard import html

        return html.written(self.document().body)


@dataclass(frozen=True)
class WatchOptions:
    """What `watch` is asked for besides models and optimizers."""

    level: str = "light"
    every: int = 1
    record: str | os.PathLike[str] | None = None
    ring: int | None = None  # MiB
    schedule: Schedule | None = None
    predict: bool = False

    def __post_init__(self) -> None:
        if self.predict and self.level == "light":
            raise UsageError("work is measured of operators", "predict", 'Say level="ops" with it.')
        if self.level not in LEVELS:
            levels = ", ".join(LEVELS)
            raise UsageError(f'there is no "{self.level}"', "level", f"There are: {levels}.")
        if self.every < 1:
            raise UsageError(f"{self.every} is no number of steps", "every", "1 is every step.")
        if self.ring is not None and self.ring < 1:
            raise UsageError(f"{self.ring} MiB hold no events", "ring", "The least is 1.")
        if self.schedule is not None and self.schedule.repeat > 1:
            raise UsageError("a program is watched once", "schedule", "Leave repeat away.")


class _Plan:
    """Which steps a session records: those that a schedule calls for, or all of them. Until the
    first of these the first step of the program is kept, so that there is something to tell of."""

    def __init__(self, schedule: Schedule | None) -> None:
        self.schedule = None if schedule is None else replace(schedule, repeat=1)
        self.position = 0  # steps that have ended
        first = 0 if schedule is None else schedule.first_recorded()
        assert first is not None
        self.first = first
        self.warmup = None if schedule is None else min(schedule.warmup, first)
        self.begin = first - (self.warmup or 0)
        self.end = None if schedule is None else first + schedule.active

    def remark(self) -> str | None:
        """Of a program that ends now."""
        if self.end is None or self.position >= self.end:
            return None
        if self.position < self.begin:
            return f"the schedule {self.schedule}, and no step had ended: all that ran is told"
        if self.position <= self.first:
            return f"the schedule {self.schedule}: the program ended in the warm-up, which is told"
        recorded = self.position - self.first
        return f"the schedule {self.schedule}: the program ended after {recorded} of them"

    def remark_of_first(self) -> str:
        return f"the schedule {self.schedule}: the program ended before, and step 0 is told"


class Hooks:
    """Hooks that PyTorch has of a session."""

    # A session may be part of a cycle that nobody has any more. What is only its own then has lost
    # its weak references, by which handles know where they belong, when it ends.
    _all: ClassVar[set[Hooks]] = set()

    # What torch.compile has made asks whether the hooks of modules are those that there were, by
    # the numbers that PyTorch gives them: these are the same in each session.
    _numbers: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self._handles: list[Any] = []

    def add_of_modules(self, before: Any, after: Any) -> None:
        from torch.nn.modules import module

        handles = [
            module.register_module_forward_pre_hook(before),
            module.register_module_forward_hook(after, always_call=True),
        ]
        if not self._numbers:
            self._numbers.extend(handle.id for handle in handles)
        for handle, number in zip(handles, self._numbers, strict=True):
            references = (handle.hooks_dict_ref, *handle.extra_dict_ref)
            tables = [hooks for reference in references if (hooks := reference()) is not None]
            if any(number in hooks for hooks in tables):  # of a session that waits for its steps
                continue
            for hooks in tables:
                if handle.id in hooks:
                    hooks[number] = hooks.pop(handle.id)
            handle.id = number
        self.add(handles)

    def add(self, handles: Iterable[Any]) -> None:
        self._handles += handles
        self._all.add(self)

    def remove(self) -> None:
        while self._handles:
            self._handles.pop().remove()
        self._all.discard(self)


class Watch:
    """A session of watching: a context manager that `watch` makes."""

    def __init__(
        self,
        models: Iterable[torch.nn.Module],
        optimizers: Iterable[torch.optim.Optimizer],
        options: WatchOptions,
    ) -> None:
        self._models, self._optimizers = tuple(models), tuple(optimizers)
        self._options = options
        # A schedule begins it again when the program may have gone to another folder.
        self._path = None if options.record is None else str(Path(options.record).absolute())
        self._observer = _observer_at_hand()
        self._hooks = Hooks()
        self._record: bytes | None = None
        self._first: bytes | None = None  # of the first step, while there is nothing else
        self._names = Names(self._observer)
        self._example = watch_predict.Example() if options.predict else None
        self._kernels = DeviceKernels(self._observer.remark)
        self._plan = _Plan(options.schedule)
        self._steps = 0
        self._began = 0  # steps that had ended when the record began
        self._entered = self._running = False
        self._graphs = 0
        self._process = 0

    def __enter__(self) -> Watch:
        self._process = os.getpid()
        make_room(self, self._observer)
        self._begin(self._plan.warmup if self._plan.begin == 0 else None)
        self._entered = True
        try:
            self._add_hooks()
        except BaseException:
            self.stop()
            raise
        return self

    def _begin(self, warmup: int | None) -> None:
        options = self._options
        ring = 0 if options.ring is None else options.ring << 20
        ops = options.level != "light"
        self._observer.start(ops, options.every, self._path, warmup, ring)
        self._running, self._graphs, self._began = True, _compiled_graphs(), self._plan.position
        try:
            hear_cuda(self._observer)
            self._names.forget()
            with self._names.harmless():
                for model in self._models:
                    self._names.add_model(model)
                for optimizer in self._optimizers:
                    self._names.add_optimizer(optimizer)
            if options.level == "kernels":
                self._kernels.start()
        except BaseException:
            self._end()
            raise

    def _end(self, remark: str | None = None) -> None:
        """Ends what is recorded now; the hooks stay, and do nothing."""
        if not self._running:
            return
        self._running = False
        with self._names.harmless():
            self._names.name_late()
            self._names.mark_replaced()
        self._names.tell_sizes()
        if graphs := _compiled_graphs() - self._graphs:
            many = f"{graphs} graphs" if graphs > 1 else "one graph"
            self._observer.remark(
                f"torch.compile made {many}: what runs in them is told as a whole, and of a model "
                "that was compiled in place (model.compile()) as (outside)"
            )
        if remark is not None:
            self._observer.remark(remark)
        self._kernels.stop()
        self._observer.stop()
        self._record = self._with_kernels(self._observer.record())
        self._observer.discard()
        self._names.forget()

    def _with_kernels(self, record: bytes) -> bytes:
        chunks = self._kernels.chunks(record)
        if chunks and self._path is not None:
            try:
                with Path(self._path).open("ab") as file:
                    file.write(chunks)
            except OSError as error:
                warnings.warn(f"steelyard.watch: the file has no kernels: {error}", stacklevel=2)
        return record + chunks

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def step(self) -> None:
        """A step of the program ends here. Without it the optimizer's step ends one."""
        if self._running:
            self._names.close_left()
        # Its optimizer may have ended it already, and begun the record with the next.
        if self._running and self._began <= self._steps:
            self._observer.end_step(self._steps)
        self._steps += 1
        self._advance(self._steps)

    def _optimizer_ended(self) -> None:
        if self._steps == 0:  # `step` tells better
            self._advance(self._plan.position + 1)

    def _advance(self, position: int) -> None:
        """Does what the schedule says of the step that begins."""
        plan = self._plan
        is_new = position > plan.position
        plan.position = position
        if plan.end is None or not is_new or not self._entered or os.getpid() != self._process:
            return
        if position == plan.end:
            self._end()
        elif position == plan.begin:
            self._end(plan.remark_of_first())
            self._first, self._record = self._record, None
            self._begin(plan.warmup)
        elif position == 1 < plan.begin:
            self._end(plan.remark_of_first())

    def stop(self) -> None:
        """Ends the session, as leaving the context does."""
        self._stop(self._plan.remark())

    def _stop(self, remark: str | None) -> None:
        if not self._entered or os.getpid() != self._process:  # a child of fork has no part in it
            if not self._entered:
                self._end()
            return
        self._entered = False
        self._hooks.remove()
        self._end(remark)
        if self._plan.position == self._plan.begin and self._first is not None:
            self._record = self._first  # nothing has ended since
        self._first = None

    def __del__(self) -> None:
        """One that nobody ends would stand in the way of every other."""
        if not getattr(self, "_entered", False) or os.getpid() != self._process:
            return
        self._stop(DROPPED)
        warnings.warn(f"steelyard.watch: {DROPPED}", stacklevel=2)

    def yield_to_others(self) -> Watch:
        """From now on a session that the program begins itself ends this one, which goes on with
        nothing; without this such a session is refused."""
        global _yielding
        _yielding = self
        return self

    def _give_way(self) -> None:
        if os.getpid() == self._process:
            self._end("the program began a session of its own, with which this record ends")
        self.stop()

    @property
    def report(self) -> WatchReport:
        """What the program has done until now."""
        if self._running:
            return WatchReport(self._observer.record())
        if self._record is None:
            raise UsageError("nothing has been watched yet", "report", "Enter the context first.")
        return WatchReport(self._record) if self._entered else self._whole_report

    @cached_property
    def _whole_report(self) -> WatchReport:
        assert self._record is not None
        return WatchReport(self._record)

    @property
    def record(self) -> bytes:
        """The record itself, once the session has ended."""
        if self._running or self._record is None:
            raise UsageError("the session has not ended", "record", "Leave the context first.")
        return self._record

    @property
    def record_until_now(self) -> bytes:
        return self._observer.record() if self._running else self.record

    @property
    def first_model(self) -> torch.nn.Module | None:
        """The first model that was called, where `predict` was asked for."""
        return None if self._example is None else self._example.model

    @property
    def prediction(self) -> watch_predict.Prediction:
        """The first model that was called, exported and weighed, beside what was measured; where
        `predict` was asked for, and once the session has ended."""
        if self._example is None or self._entered:
            raise UsageError(
                "there is no prediction", "prediction", "Ask with predict=True, and leave first."
            )
        return watch_predict.Prediction(self._example, self.report.data)

    def _add_hooks(self) -> None:
        from torch.optim import optimizer

        if isinstance(self._observer, PlainObserver):
            self._hooks.add(self._observer.hooks())
        enter, leave = _module_hooks(self._observer, self._names, self._example)
        before, after = _optimizer_hooks(self._observer, self._names)
        # PyTorch keeps its hooks: a session that nobody has any more is to end.
        this = weakref.ref(self)

        def step_ended(ended: torch.optim.Optimizer, *_: Any) -> None:
            session = this()
            if session is None:
                return
            if session._example is not None:
                with session._names.harmless():
                    session._example.optimized(ended)
            session._optimizer_ended()

        self._hooks.add_of_modules(enter, leave)
        self._hooks.add(
            [
                optimizer.register_optimizer_step_pre_hook(before),
                optimizer.register_optimizer_step_post_hook(after),
                optimizer.register_optimizer_step_post_hook(step_ended),
            ]
        )


# The session that gives way to others.
_yielding: Watch | None = None


def make_room(session: Any, observer: _core.Observer | PlainObserver) -> None:
    """Ends the session that gives way to others, if it is another one than this, and those that
    nobody has any more."""
    global _yielding
    if observer.running():
        gc.collect()  # one that is part of a cycle ends so
    if _yielding is not None and _yielding is not session:
        outer, _yielding = _yielding, None
        outer._give_way()


def watch(
    model: torch.nn.Module | Iterable[torch.nn.Module] | None = None,
    optimizer: torch.optim.Optimizer | Iterable[torch.optim.Optimizer] | None = None,
    *,
    level: str = "light",
    every: int = 1,
    record: str | os.PathLike[str] | None = None,
    ring: int | None = None,
    schedule: Schedule | None = None,
    predict: bool = False,
) -> Watch:
    """Watches a PyTorch program while the context lasts.

        with steelyard.watch(model, optimizer) as w:
            for batch in data:
                train(batch)
                w.step()
        print(w.report)

    Models and optimizers that are not given are found when they are first called. `level` "light"
    tells of modules, the backward pass, the optimizer and memory; "ops" of operators, too, and of
    their work, in one step of `every`; "kernels" of what CUDA devices run, too, as PyTorch's
    profiler hears it: of few steps, for it keeps all of them until the session ends. `record` is a
    file that is written as the program runs: it can be read even if the process is killed; of more
    than `ring` MiB of events the oldest are let go. `schedule` says which steps are recorded. With
    `predict` the first model that is called is exported afterwards and weighed, for `prediction`.
    The engine, which hears of these, is built for the installed PyTorch when there is none yet;
    where it cannot be built, modules and the backward pass are timed, and a remark says so.
    """
    import torch

    several = [] if model is None else [model] if isinstance(model, torch.nn.Module) else model
    models = list(several)
    if not all(isinstance(each, torch.nn.Module) for each in models):
        raise TypeError("a model that is watched is an nn.Module, or several of them")
    single = isinstance(optimizer, torch.optim.Optimizer)
    optimizers = [] if optimizer is None else [optimizer] if single else optimizer
    options = WatchOptions(level, every, record, ring, schedule, predict)
    return Watch(models, optimizers, options)


def _compiled_graphs() -> int:
    """How many torch.compile has made in this process."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return 0 if dynamo is None else int(dynamo.counters["stats"]["unique_graphs"])


def _observer_at_hand() -> _core.Observer | PlainObserver:
    """The engine's, or where there is none, and none can be built, one that tells less."""
    try:
        return engine_library.observer()
    except UnsupportedError as reason:
        return PlainObserver(str(reason))


# Who hears of CUDA's memory once the program uses CUDA.
_waiting: _core.Observer | PlainObserver | None = None


def hear_cuda(observer: _core.Observer | PlainObserver) -> None:
    """From now on, or as soon as the program uses CUDA, its memory is heard of."""
    global _waiting
    import torch

    if torch.version.cuda is None:
        return
    is_asked = _waiting is not None  # what PyTorch is asked to call it keeps
    _waiting = observer
    if torch.cuda.is_initialized():
        _begin_to_hear_cuda()
    elif not is_asked:
        torch.cuda._lazy_call(_begin_to_hear_cuda)


def _begin_to_hear_cuda() -> None:
    if _waiting is not None and _waiting.running() and not _waiting.hear_cuda():
        _waiting.remark("memory of CUDA is not watched: PyTorch's headers do not tell of it")


def _module_hooks(
    observer: _core.Observer | PlainObserver,
    names: Names,
    example: watch_predict.Example | None = None,
) -> tuple[Any, Any]:
    """What is called before and after each module. What torch.compile traces sees nothing of it."""
    import torch

    is_compiling = torch.compiler.is_compiling
    open_steps = names.open_steps
    enter, leave = observer.enter, observer.leave
    inputs, outputs = _core.Category.INPUTS, _core.Category.OUTPUTS

    def before(module: torch.nn.Module, args: Any) -> None:
        if is_compiling():
            return
        if open_steps:
            names.close_left()
        if enter(module):
            return
        # The hook does not get what was passed by name: the frame that calls it has it.
        given = sys._getframe(1).f_locals.get("kwargs")
        try:
            if not names.knows(module):
                names.add_model(module)
                if enter(module):
                    return
            if example is not None:
                example.given(module, args, given)
            names.mark_all(args, inputs)
            if given:
                names.mark_all(given.values(), inputs)
        except Exception as error:
            names.failed(error)

    def after(module: torch.nn.Module, args: Any, result: Any) -> None:
        if is_compiling() or leave(module):
            return
        try:
            if example is not None:
                example.gave(module, result)
            names.mark_all((result,), outputs)
        except Exception as error:
            names.failed(error)

    return before, after


def _optimizer_hooks(observer: _core.Observer | PlainObserver, names: Names) -> tuple[Any, Any]:
    open_steps = names.open_steps

    def before(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not observer.running():
            return
        try:
            names.close_left()
            names.name_late()
            names.mark_shards()
            number = names.add_optimizer(optimizer)
            observer.enter_optimizer(number)
            open_steps.append((number, sys._getframe(1)))
        except Exception as error:
            names.failed(error)

    def after(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not observer.running():
            return
        try:
            number = names.add_optimizer(optimizer)
            if open_steps:
                open_steps.pop()
            observer.leave_optimizer(number)
            names.mark_state(optimizer)
        except Exception as error:
            names.failed(error)

    return before, after
