# SPDX-License-Identifier: Apache-2.0
"""What CUDA devices run while a program is watched, of which PyTorch's profiler hears.

Only one of its sessions can be open. A program that has one keeps it, and one that begins one gets
it: then nothing is heard any more, and the record says so. It costs what CUPTI does for a kernel;
operators are not told twice.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard import _core
from steelyard.errors import SteelyardError

# By which the sessions of PyTorch's profiler begin, in torch.autograd.profiler.
ENTRIES = ("_prepare_profiler", "_enable_profiler")


class DeviceKernels:
    """One session. `remark` writes to the record; it is called until `stop` has returned."""

    def __init__(self, remark: Callable[[str], None]) -> None:
        self._remark = remark
        self._profile: Any = None
        self._ended: Any = None
        self._entries: dict[str, Any] = {}  # as they were

    def start(self, activities: list[Any] | None = None) -> None:
        """Begins to listen, unless there is no device or somebody does already."""
        import torch
        from torch.autograd import profiler as native

        if activities is None:
            if not torch.cuda.is_available():
                self._remark("there are no kernels: this process has no CUDA device")
                return
            activities = [torch.profiler.ProfilerActivity.CUDA]
        if torch.autograd._profiler_enabled():
            self._remark(
                "kernels are not told: the program runs PyTorch's profiler, which has them"
            )
            return
        profile = torch.profiler.profile(activities=activities)
        try:
            profile.start()
        except Exception as error:  # of CUPTI, which another tool may have
            said = " ".join(str(error).split())[:200]
            self._remark(f"kernels are not told: PyTorch's profiler does not start ({said})")
            return
        self._profile = profile
        for name in ENTRIES:
            if hasattr(native, name):
                self._entries[name] = getattr(native, name)
                setattr(native, name, self._giving_way(self._entries[name]))

    def _giving_way(self, entry: Callable[..., Any]) -> Callable[..., Any]:
        def begin(*args: Any, **kwargs: Any) -> Any:
            if self._profile is not None:
                self._remark("the program began PyTorch's profiler, with which kernels end")
            self.stop()
            return entry(*args, **kwargs)

        return begin

    def stop(self) -> None:
        """Waits for the device, as PyTorch's profiler does, and listens no more."""
        from torch.autograd import profiler as native

        for name, entry in self._entries.items():
            setattr(native, name, entry)
        self._entries.clear()
        profile, self._profile = self._profile, None
        if profile is None:
            return
        try:
            profile.stop()
            self._ended = profile
        except Exception as error:  # a session ends in the thread that began it
            said = " ".join(str(error).split())[:200]
            self._remark(f"kernels are not told: PyTorch's profiler does not end ({said})")

    def chunks(self, record: bytes) -> bytes:
        """What follows the record of the same time."""
        profile, self._ended = self._ended, None
        if profile is None:
            return b""
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "kernels.json"
                profile.export_chrome_trace(str(path))
                return _core.kernel_chunks(record, path.read_bytes(), "PyTorch's trace")
        except (OSError, RuntimeError, SteelyardError) as error:
            warnings.warn(f"steelyard.watch: kernels are left out: {error}", stacklevel=2)
            return b""
