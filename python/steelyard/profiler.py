# SPDX-License-Identifier: Apache-2.0
"""`torch.profiler.profile` by its names, over the observer that watches programs.

What is recorded is a few dozen bytes an event; what it means is found out, summed and written in
C++ after the run. What CUDA devices run is what PyTorch's profiler hears of them
(device_kernels.py); of other devices nothing is recorded.
"""

from __future__ import annotations

import atexit
import gzip
import json
import os
import socket
import sys
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import ProfilerAction, ProfilerActivity, record_function

from steelyard import _core, engine_library
from steelyard.device_kernels import DeviceKernels
from steelyard.errors import SteelyardError, UnsupportedError, UsageError
from steelyard.key_averages import KeyAverages
from steelyard.schedules import Schedule, schedule
from steelyard.watched_names import Names
from steelyard.watching import (
    Hooks,
    _module_hooks,
    _optimizer_hooks,
    hear_cuda,
    make_room,
)

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["profile", "record_function", "schedule", "tensorboard_trace_handler"]

RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
STEP = "ProfilerStep#"
# By which stacks are summed. Of other devices than CUDA's nothing is recorded.
METRIC, CUDA_METRIC = "self_cpu_time_total", "self_cuda_time_total"
DEVICE_METRICS = (CUDA_METRIC, "self_xpu_time_total", "self_privateuse1_time_total")


def _every_step(_: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile:  # noqa: N801, for it stands where torch.profiler.profile stood
    """Profiles a PyTorch program while the context lasts, or from `start()` to `stop()`.

        with steelyard.profile(record_shapes=True) as prof:
            train()
        print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))

    Takes what `torch.profiler.profile` takes. `with_flops` counts by the rows that weigh models,
    and records shapes. `with_modules` tells of each operator, also of the backward pass, in which
    module it ran. `with_stack` records the functions of Python that the thread of `start()` calls,
    and modules. The engine is built for the installed PyTorch when there is
    none yet.
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        kernels = _asks_for_kernels(activities)
        if execution_trace_observer is not None:
            name = "execution_trace_observer"
            raise UnsupportedError(f"{name} is PyTorch's own", name, "Leave it out.")
        if experimental_config is not None:
            warnings.warn("experimental_config is PyTorch's own and changes nothing", stacklevel=2)
        if acc_events and schedule is not None:
            warnings.warn("what is told is of the last cycle, also with acc_events", stacklevel=2)
        self.record_shapes = record_shapes or with_flops
        self.profile_memory, self.with_stack = profile_memory, with_stack
        self.with_flops, self.with_modules = with_flops, with_modules
        self.on_trace_ready = on_trace_ready
        self.schedule = schedule or _every_step
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._marks_steps = schedule is not None
        self._trace_id = custom_trace_id_callback
        self._metadata: dict[str, str] = {}
        self._session = _Session(
            _Parts(self.record_shapes, profile_memory, with_stack, with_modules, kernels)
        )
        self._started = self._stepped = self._told = False
        self._record: bytes | None = None
        self._core: _core.Profile | None = None
        self._spare: tuple[bytes, str] | None = None  # told where nothing else was recorded
        self._process = 0

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __del__(self) -> None:
        """One that nobody ends would stand in the way of every other."""
        if not getattr(self, "_started", False) or os.getpid() != self._process:
            return
        if not sys.is_finalizing():
            warnings.warn(
                "steelyard.profile: it was dropped without stop(), and has ended", stacklevel=2
            )
            self.stop()

    def __str__(self) -> str:
        if isinstance(self.schedule, Schedule):
            return f"{self.schedule.explain(self.step_num)} (the schedule {self.schedule})"
        return f"step {self.step_num}: {self.current_action.name.lower()}"

    def start(self) -> None:
        """Begins, with step 0 of the schedule."""
        if self._started:
            raise UsageError("the profile has begun already", "start", "Call stop() first.")
        # The first step is recorded in any case: a program may never tell that it has ended.
        self._session.start()
        self._started, self._process = True, os.getpid()
        _open.add(self)
        self._begin_step()

    def step(self) -> None:
        """A step of the program has ended, and the next one begins."""
        self._stepped = True
        if not self._started or os.getpid() != self._process:
            self.step_num += 1
            return
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        try:
            self._go_on(before, self.current_action)
        except SteelyardError as error:  # the program goes on all the same
            warnings.warn(f"step {self.step_num} is not profiled: {error}", stacklevel=2)
        self._begin_step()

    def stop(self) -> None:
        """Ends, and hands what was recorded to `on_trace_ready`, unless it has all."""
        if not self._started or os.getpid() != self._process:  # a child of fork has no part in it
            return
        self._end_step()
        self._started = False
        _open.discard(self)
        record = self._session.stop()
        if self.current_action in RECORDING:
            if self._marks_steps and not self._stepped:
                self._warn("step() was never called: what is told is of all that ran, as one step")
            self._tell(record)
        elif not self._told:
            self._tell_what_there_is(record)

    def _go_on(self, before: ProfilerAction, now: ProfilerAction) -> None:
        was_first = self.step_num == 1 and before not in RECORDING
        if before is ProfilerAction.RECORD_AND_SAVE or (
            before in RECORDING and now not in RECORDING
        ):
            self._tell(self._session.stop())
        elif was_first:
            self._spare = (self._session.stop(), f"step 0, {before.name.lower()}")
        elif before is ProfilerAction.WARMUP and now is not ProfilerAction.WARMUP:
            self._session.stop()
        if now is not ProfilerAction.NONE and not self._session.running:
            self._session.start()

    def _tell_what_there_is(self, record: bytes) -> None:
        """The program has ended before anything was recorded that the schedule asks for."""
        what = f"step {self.step_num}, which the schedule has as {self.current_action.name.lower()}"
        if not self._stepped:
            self._warn("step() was never called: what is told is of all that ran, as one step")
        elif record or self._spare is not None:
            if not record:
                assert self._spare is not None
                record, what = self._spare
            first = getattr(self.schedule, "first_recorded", lambda step: None)(self.step_num)
            until = "" if first is None else f" before step {first}, the first to be recorded"
            self._warn(
                f"the program ended in step {self.step_num}{until}: what is told is of {what}"
            )
        if record:
            self._tell(record)

    def _warn(self, text: str) -> None:
        warnings.warn(f"steelyard.profile: {text}. The schedule: {self.schedule}", stacklevel=4)

    def _tell(self, record: bytes) -> None:
        self._record, self._core, self._spare = record, None, None
        self._told = True
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _begin_step(self) -> None:
        if self._marks_steps:
            self._session.enter(f"{STEP}{self.step_num}")

    def _end_step(self) -> None:
        if self._marks_steps:
            self._session.leave(f"{STEP}{self.step_num}")

    @property
    def _profile(self) -> _core.Profile:
        if self._record is None:
            raise UsageError("nothing has been recorded yet", "profile", "Leave the context first.")
        if self._core is None:
            self._core = _core.read_profile(self._record, "the profile", self.with_flops)
        return self._core

    @property
    def record(self) -> bytes:
        """The record itself, which `steelyard watch --read` reports on, too."""
        assert self._profile is not None
        return self._record or b""

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
        *,
        group_by_module: bool = False,
    ) -> KeyAverages:
        """Calls that are alike, summed: by name and by what else is asked for."""
        self._needs(group_by_input_shape, "group_by_input_shape", "record_shapes")
        self._needs(group_by_stack_n > 0, "group_by_stack_n", "with_stack")
        if not self.with_stack:
            self._needs(group_by_module, "group_by_module", "with_modules")
        rows = self._profile.averages(
            by_inputs=group_by_input_shape,
            stack_depth=group_by_stack_n,
            by_module=group_by_module,
            by_overload=group_by_overload_name,
            functions=include_python_functions,
        )
        return KeyAverages.of(
            rows, memory=self.profile_memory, flops=self.with_flops, shapes=group_by_input_shape
        )

    def events(self) -> Any:
        """Every event by itself: PyTorch's `EventList` of its `FunctionEvent`s, with what is around
        and inside each. Of each `module` says the module, where `with_modules` was asked for."""
        from steelyard import profile_events

        return profile_events.events_of(
            self._profile,
            memory=self.profile_memory,
            flops=self.with_flops,
            stacks=self.with_stack,
        )

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """From now on operators, the backward pass and named ranges are recorded, or are not. What
        has begun is recorded to its end. Activities other than the CPU's change nothing."""
        if ProfilerActivity.CPU in set(activities):
            self._session.hear(enable)

    def _needs(self, asked: bool, what: str, option: str) -> None:
        if asked and not getattr(self, option):
            raise UsageError(f"{what} is of what was not recorded", what, f"Pass {option}=True.")

    def export_chrome_trace(self, path: str | os.PathLike[str], **ignored: Any) -> None:
        """Writes a trace as torch.profiler does, compressed if its name ends in .gz."""
        self._export(path, _core.TraceForm.CHROME)

    def export_perfetto_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace in Perfetto's own format, which has no limit of size: for ui.perfetto.dev
        and trace_processor. Compressed if its name ends in .gz."""
        self._export(path, _core.TraceForm.PERFETTO)

    def _export(self, path: str | os.PathLike[str], form: _core.TraceForm) -> None:
        name = os.fspath(path)
        properties = list(self._properties().items())
        if name.endswith(".gz"):
            _write_compressed(name, self._profile.trace(form, name, properties))
        else:
            self._profile.write_trace(form, name, properties)

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:
        """Writes what flame graphs are drawn from: a line for each stack of functions and the
        operator in them, with the microseconds that it took itself, or that a CUDA device ran what
        it asked for. Needs `with_stack`. By another device's time there is no line."""
        if metric not in (METRIC, *DEVICE_METRICS):
            known = ", ".join((METRIC, *DEVICE_METRICS))
            raise UsageError(f'there is no "{metric}"', "metric", f"There are: {known}.")
        self._needs(True, "export_stacks", "with_stack")
        told = metric in (METRIC, CUDA_METRIC)
        lines = self._profile.stack_lines(on_device=metric == CUDA_METRIC) if told else ""
        Path(path).write_text(lines, encoding="utf-8")

    def export_memory_timeline(
        self, path: str | os.PathLike[str], device: str | None = None
    ) -> None:
        """Writes what memory of the CPU held over time, by what it was: sizes as .json or .json.gz,
        each change as .raw.json.gz, a picture as .html. Needs `profile_memory`, and `with_modules`
        or `with_stack`, by which parameters are known."""
        if device not in (None, "cpu"):
            raise UnsupportedError(f"memory of {device} is not recorded", "device", 'Pass "cpu".')
        self._needs(True, "export_memory_timeline", "profile_memory")
        if not self.with_stack:
            self._needs(True, "export_memory_timeline", "with_modules")
        name, form = os.fspath(path), _core.MemoryForm.SIZES
        if name.endswith(".html"):
            form = _core.MemoryForm.PAGE
        elif name.endswith("raw.json.gz"):
            form = _core.MemoryForm.CHANGES
        text = _core.memory_over_time(self.record, "the profile", form)
        if name.endswith(".gz"):
            _write_compressed(name, text.encode())
        else:
            Path(name).write_text(text, encoding="utf-8")

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to what traces say of themselves."""
        self._metadata[key] = json.dumps(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds what JSON says to what traces say of themselves."""
        self._metadata[key] = json.dumps(json.loads(value))

    preset_metadata_json = add_metadata_json

    def get_trace_id(self) -> str:
        return self._trace_id() if self._trace_id is not None else self._random_id

    @cached_property
    def _random_id(self) -> str:
        return uuid.uuid4().hex.upper()

    def _properties(self) -> dict[str, str]:
        """What stands in a trace beside its events: JSON by key."""
        properties = {"trace_id": json.dumps(self.get_trace_id())}
        options = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
        properties |= {option: "1" for option in options if getattr(self, option)}
        properties["distributedInfo"] = json.dumps(_distributed())
        properties["host_name"] = json.dumps(socket.gethostname())
        return properties | self._metadata


# What has begun and has not ended.
_open: weakref.WeakSet[profile] = weakref.WeakSet()


@atexit.register
def _tell_what_is_open() -> None:
    for prof in list(_open):
        if os.getpid() == prof._process:
            warnings.warn(
                "steelyard.profile: stop() was never called: it ends with the program",
                stacklevel=1,
            )
            prof.stop()


@dataclass(frozen=True)
class _Parts:
    """What is recorded besides names."""

    record_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_modules: bool
    kernels: bool


class _Session:
    """What is recorded from one start to the next stop."""

    def __init__(self, options: _Parts) -> None:
        self._options = options
        self._observer = engine_library.observer()
        self._hooks = Hooks()
        self._names: Names | None = None
        self._kernels = DeviceKernels(_warn_of_kernels)
        self.running = False

    def start(self) -> None:
        options = self._options
        make_room(self, self._observer)
        self._observer.start_profile(options.record_shapes, options.profile_memory)
        self.running = True
        if options.profile_memory:
            hear_cuda(self._observer)
        try:
            if options.with_modules or options.with_stack:
                self._hear_modules()
            if options.with_stack:
                self._hear_functions()
            if options.kernels:
                self._kernels.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> bytes:
        """What was recorded; nothing where nothing ran."""
        if not self.running:
            return b""
        self.running = False
        self._observer.end_functions()
        self._hooks.remove()
        self._kernels.stop()
        self._observer.stop()
        record = self._observer.record()
        record += self._kernels.chunks(record)
        self._observer.discard()
        if self._names is not None:
            self._names.forget()
        return record

    def hear(self, heard: bool) -> None:
        if self.running:
            self._observer.hear_calls(heard)

    def enter(self, name: str) -> None:
        if self.running:
            self._observer.enter_range(name)

    def leave(self, name: str) -> None:
        if self.running:
            self._observer.leave_range(name)

    def _hear_modules(self) -> None:
        from torch.optim import optimizer

        self._names = Names(self._observer)
        self._hooks.add_of_modules(*_module_hooks(self._observer, self._names))
        if self._options.profile_memory:  # by which the optimizer's is known
            before, after = _optimizer_hooks(self._observer, self._names)
            self._hooks.add(
                [
                    optimizer.register_optimizer_step_pre_hook(before),
                    optimizer.register_optimizer_step_post_hook(after),
                ]
            )

    def _hear_functions(self) -> None:
        if sys.getprofile() is not None:
            warnings.warn("another profiler listens to Python: there are no stacks", stacklevel=4)
            return
        folders = [f"{Path(folder).absolute()}{os.sep}" for folder in sys.path if folder]
        own = f"{Path(__file__).parent}{os.sep}"
        self._observer.begin_functions([f"{Path.cwd()}{os.sep}", *folders], own)


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Writes each trace into a folder, as WORKER.NANOSECONDS.pt.trace.json; WORKER is
    HOST_PROCESS unless it is given."""

    def handle(prof: profile) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json"
        prof.export_chrome_trace(folder / (f"{name}.gz" if use_gzip else name))

    return handle


def _asks_for_kernels(activities: Iterable[Any] | None) -> bool:
    """Whether what CUDA devices run is to be told, as it is by default where there are any."""
    if activities is None:
        return bool(torch.cuda.is_available())
    asked = [key for item in activities for key in (item if isinstance(item, dict) else (item,))]
    if not asked:
        raise UsageError("there is no activity", "activities", "Leave it out, or name the CPU.")
    told = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        told.append(ProfilerActivity.CUDA)
    others = [activity.name for activity in asked if activity not in told]
    if others:
        names = ", ".join(others)
        known = " and ".join(activity.name for activity in told)
        warnings.warn(f"of {names} nothing is recorded, only of the {known}", stacklevel=3)
    return ProfilerActivity.CUDA in told and ProfilerActivity.CUDA in asked


def _warn_of_kernels(said: str) -> None:
    warnings.warn(f"steelyard.profile: {said}", stacklevel=2)


def _distributed() -> dict[str, Any]:
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return {"rank": 0, "world_size": 1}
    return {
        "backend": distributed.get_backend(),
        "rank": distributed.get_rank(),
        "world_size": distributed.get_world_size(),
    }


def _write_compressed(path: str, content: bytes) -> None:
    """The file is there whole or not at all."""
    unfinished = f"{path}.tmp"
    with gzip.open(unfinished, "wb", compresslevel=1) as file:
        file.write(content)
    Path(unfinished).replace(path)
