# SPDX-License-Identifier: Apache-2.0
"""Which steps of a program are profiled: a schedule that can say so itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from torch.profiler import ProfilerAction

from steelyard.errors import UsageError


@dataclass(frozen=True)
class Schedule:
    """What `schedule` makes: called with the number of a step it tells what is done in it."""

    wait: int
    warmup: int
    active: int
    repeat: int = 0
    skip_first: int = 0
    skip_first_wait: int = 0

    @property
    def cycle(self) -> int:
        return self.wait + self.warmup + self.active

    def place(self, step: int) -> tuple[int, int]:
        """The cycle in which a step lies, and which of it the step is; -1, 0 before the first."""
        after = step - self.skip_first
        if after < 0:
            return -1, 0
        return divmod(after + (self.wait if self.skip_first_wait else 0), self.cycle)

    def __call__(self, step: int) -> ProfilerAction:
        if step < 0:
            raise UsageError(f"{step} is no number of a step", "step", "Steps begin with 0.")
        cycle, within = self.place(step)
        over = self.repeat > 0 and cycle >= self.repeat
        if cycle < 0 or over or within < self.wait:
            return ProfilerAction.NONE
        if within < self.wait + self.warmup:
            return ProfilerAction.WARMUP
        last = within == self.cycle - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    def first_recorded(self, step: int = 0) -> int | None:
        """The first step from this one on that is recorded; None after the last cycle."""
        cycle, within = self.place(step)
        if cycle < 0:
            return self.first_recorded(self.skip_first)
        if self.repeat > 0 and cycle >= self.repeat:
            return None
        return step + max(self.wait + self.warmup - within, 0)

    def explain(self, step: int) -> str:
        """What is done in a step, and what comes next."""
        action = self(step)
        first = self.first_recorded(step)
        if first is None:
            return f"step {step}: all {self.repeat} cycles are over, nothing more is recorded"
        cycle = max(self.place(step)[0], 0)
        left = "" if self.repeat == 0 else f"; {self.repeat - cycle - 1} cycles left after this one"
        last = first + self.active - 1 - max(self._recorded_before(step), 0)
        steps = f"step {first}" if first == last else f"steps {first} to {last}"
        if action is ProfilerAction.NONE:
            doing = "waiting"
        elif action is ProfilerAction.WARMUP:
            doing = "warming up"
        else:
            return f"step {step}: recording, until step {last} has ended{left}"
        return f"step {step}: {doing}; {steps} will be recorded{left}"

    def _recorded_before(self, step: int) -> int:
        """Steps of its cycle that were recorded before this one."""
        cycle, within = self.place(step)
        return 0 if cycle < 0 else within - self.wait - self.warmup

    def __str__(self) -> str:
        first = self.first_recorded()
        assert first is not None
        steps = (
            f"step {first}" if self.active == 1 else f"steps {first} to {first + self.active - 1}"
        )
        if self.repeat == 1:
            return f"records {steps}, once"
        times = "without end" if self.repeat == 0 else f"{self.repeat} times"
        return f"records {steps}, and again every {self.cycle} steps, {times}"


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Schedule:
    """Which steps are profiled: after `skip_first` steps, cycles of steps that are let pass
    (`wait`), watched and forgotten (`warmup`), and recorded (`active`); `repeat` of them, or as
    many as there is time for. With `skip_first_wait` the first cycle does not wait. `print` tells
    which steps that are."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise UsageError(
            f"wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, "
            f"skip_first={skip_first} is no schedule",
            "schedule",
            "At least one step is active, and no number is negative.",
        )
    if warmup == 0:
        warnings.warn("without warm-up the first recorded step is slower than others", stacklevel=2)
    return Schedule(wait, warmup, active, repeat, skip_first, skip_first_wait)
