# SPDX-License-Identifier: Apache-2.0
"""What a device ran in some steps, as `steelyard.profile` and PyTorch's own profiler tell it."""

import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

import steelyard
import torch

STEPS = 5


def kernels_of(step: Callable[[], None], wait: Callable[[], None]) -> dict[str, Any]:
    """How many kernels of a step are the same, by name; the ratio of their times; and of operators
    for how many the same was asked. Nothing runs on a CPU."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    step()
    told = []
    for profile in (steelyard.profile, torch.profiler.profile):
        wait()
        with profile(activities=activities) as profiled:
            for _ in range(STEPS):
                step()
            wait()
        told.append(profiled.events())
    counts, times, asked = zip(*(_summed(events) for events in told), strict=True)
    names = set(counts[0]) | set(counts[1])
    operators = set(asked[0]) | set(asked[1])
    ratios = [times[0][name] / times[1][name] for name in names if times[0][name] * times[1][name]]
    return {
        "kernels": len(names),
        "as_often": sum(counts[0][name] == counts[1][name] for name in names),
        "time_ratio": statistics.median(ratios) if ratios else None,
        "operators": len(operators),
        "asked_alike": sum(asked[0][name] == asked[1][name] for name in operators),
    }


def _summed(events: Any) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """By kernel how many and how long; by operator how many it asked for."""
    counts: Counter[str] = Counter()
    times: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for event in events:
        if event.device_type == torch.autograd.DeviceType.CUDA:
            counts[event.name] += 1
            times[event.name] += event.time_range.elapsed_us()
        elif event.kernels:
            asked[event.name] += len(event.kernels)
    return counts, times, asked
