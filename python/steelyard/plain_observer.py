# SPDX-License-Identifier: Apache-2.0
"""Watching without the engine: what Python alone can tell of a program while it runs.

Modules, optimizers and steps are told as the engine's observer tells them, in the same record
(src/record/format.h). Of the backward pass only where it enters and leaves the modules: PyTorch
calls a hook at the nodes that made what they return, and at those that made what they are given.
Operators and memory, of which PyTorch tells Python nothing, are left out.
"""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import InvalidInputError

if TYPE_CHECKING:
    import torch

    from steelyard import _core

# As in src/record/format.h.
MAGIC, VERSION, PAGE, CHUNK = b"steelyrd", 3, 4096, 128 << 10
HEADER = struct.Struct("=8s4I6Q32sIIQQ")
CHUNK_HEAD = struct.Struct("=IIQQ40x")
EVENT = struct.Struct("=QQQIBBH")
ENTRY = struct.Struct("=IIQ4QII")
EVENT_CHUNK, ENTRY_CHUNK = 1, 2
NO_ID = 0xFFFFFFFF
(MODULE_ENTER, MODULE_LEAVE, NODE_ENTER, NODE_LEAVE) = range(1, 5)
(OPTIMIZER_ENTER, OPTIMIZER_LEAVE, STEP) = range(12, 15)
NAME, MODULE, TENSOR, OPTIMIZER, REMARK, FACT = 1, 3, 4, 5, 6, 8
# What stretches of the backward pass are called.
BACKWARD = 1
MARK = "steelyard"  # in the metadata of nodes that have a hook


class PlainObserver:
    """What `_core.Observer` is, with what Python knows."""

    def __init__(self, reason: str) -> None:
        self._reason = reason
        self._running = False
        self._path: str | None = None
        self._clear()

    def _clear(self) -> None:
        self._events: dict[int, bytearray] = {}  # by thread, in the order of their beginnings
        self._entries: list[bytes] = []
        self._modules: dict[int, int] = {}  # ids, by address
        self._threads: dict[int, int] = {}  # as they are told, by Python's numbers
        self._depth: dict[int, int] = {}  # by thread
        self._number = 1  # of the next node
        self._node: int | None = None  # the thread in which the backward pass is in a module
        self._first = time.perf_counter_ns()
        self._unix = time.time_ns()
        self._last = self._first
        self._warmup = 0

    # --- The session --------------------------------------------------------------------------

    def start(
        self,
        ops: bool,
        every: int,
        path: str | None = None,
        warmup: int | None = None,
        ring: int = 0,
    ) -> None:
        if path is not None:
            try:
                Path(path).write_bytes(b"")
            except OSError as reason:
                raise InvalidInputError(
                    str(reason.strerror), path, 'Name a file that can be written: "run.record".'
                ) from reason
        self._clear()
        self._path, self._warmup = path, 0 if warmup is None else warmup + 1
        self._running = True
        self._entry(NAME, BACKWARD, "backward pass")
        self.remark(
            "operators, memory and the nodes of the backward pass are not told, and what it took "
            f"is told by modules: without the engine ({self._reason})"
        )

    def running(self) -> bool:
        return self._running

    def stop(self) -> None:
        self._running = False
        self._last = time.perf_counter_ns()
        if self._path is not None:
            Path(self._path).write_bytes(self.record())

    def discard(self) -> None:
        self._clear()

    def record(self) -> bytes:
        import torch

        end = time.perf_counter_ns() if self._running else self._last
        header = HEADER.pack(
            MAGIC,
            VERSION,
            0,
            os.getpid(),
            1,
            self._unix,
            self._first,
            self._first,
            end,
            end,
            0,
            torch.__version__.encode()[:31],
            0,
            self._warmup,
            0,
            0,
        )
        chunks = list(_chunked(self._entries, ENTRY_CHUNK, 0, 0))
        for thread, events in self._events.items():
            rows = [bytes(events[i : i + EVENT.size]) for i in range(0, len(events), EVENT.size)]
            chunks += _chunked(rows, EVENT_CHUNK, thread, len(chunks))
        return header.ljust(PAGE, b"\0") + b"".join(chunks)

    # --- What there is ------------------------------------------------------------------------

    def add_module(
        self,
        module: int,
        id: int,
        parent: int | None,
        trains: bool,
        path: str,
        class_name: str,
    ) -> None:
        numbers = (NO_ID if parent is None else parent, int(trains), 0, 0)
        self._entry(MODULE, id, f"{path}\0{class_name}", numbers)
        self._modules[module] = id

    def add_place(self, id: int, parent: int, first: int, path: str, class_name: str) -> None:
        self._entry(MODULE, id, f"{path}\0{class_name}", (parent, 0, first + 1, 0))

    def alias_module(self, module: int, id: int) -> None:
        self._modules[module] = id

    def forget_module(self, module: int) -> None:
        self._modules.pop(module, None)

    def add_tensor(
        self,
        id: int,
        module: int,
        elements: int,
        bytes: int,
        tensor: int,
        category: _core.Category,
        name: str,
        dtype: str,
    ) -> None:
        self._entry(
            TENSOR, id, f"{name}\0{dtype}", (module, elements, bytes, tensor), int(category.value)
        )

    def add_optimizer(self, id: int, class_name: str) -> None:
        self._entry(OPTIMIZER, id, class_name)

    def fact(self, key: str, value: int) -> None:
        self._entry(FACT, 0, key, (value, 0, 0, 0))

    def remark(self, text: str) -> None:
        self._entry(REMARK, 0, text)

    def mark(self, *_: Any) -> None:
        """Memory is not told."""

    def hear_cuda(self) -> bool:
        return True  # the remark that begins the session says what is not heard

    # --- What happens -------------------------------------------------------------------------

    def enter(self, module: torch.nn.Module) -> bool:
        if not self._running:
            return True
        number = self._modules.get(id(module))
        if number is None:
            return False
        self._event(MODULE_ENTER, key=self._number, id=number)
        thread = threading.get_ident()
        depth = self._depth.get(thread, 0)
        self._depth[thread] = depth + 1
        return depth > 0 or self._node is not None

    def leave(self, module: torch.nn.Module) -> bool:
        number = self._modules.get(id(module)) if self._running else None
        if number is None:
            return True
        self._number += 1
        self._event(MODULE_LEAVE, key=self._number, id=number)
        thread = threading.get_ident()
        depth = max(self._depth.get(thread, 0) - 1, 0)
        self._depth[thread] = depth
        return depth > 0 or self._node is not None

    def enter_optimizer(self, id: int) -> None:
        self._event(OPTIMIZER_ENTER, id=id)

    def leave_optimizer(self, id: int) -> None:
        self._event(OPTIMIZER_LEAVE, id=id)

    def end_step(self, number: int) -> None:
        self._event(STEP, id=number)

    def hooks(self) -> list[Any]:
        """Hears of the backward pass; the handles of the hooks. To be called before those that
        call `enter` and `leave` are added."""
        from torch.nn.modules import module

        def before(_: torch.nn.Module, args: Any) -> None:
            if self._running and self._node is None:
                self._hear_of(args)
                self._number += 1

        def after(_: torch.nn.Module, args: Any, result: Any) -> None:
            if self._running and self._node is None:
                self._hear_of(result)

        return [
            module.register_module_forward_pre_hook(before),
            module.register_module_forward_hook(after),
        ]

    def _hear_of(self, tensors: Any) -> None:
        """When the gradient of one of these is known the backward pass is in the module whose
        numbers are given out now."""
        from torch.utils import _pytree as pytree

        number, thread = self._number, threading.get_ident()
        for leaf in pytree.tree_leaves(tensors):
            node = getattr(leaf, "grad_fn", None)
            if node is None or MARK in node.metadata:
                continue
            node.metadata[MARK] = True
            node.register_prehook(self._listener(number, thread))

    def _listener(self, number: int, thread: int) -> Callable[[Any], None]:
        def reached(_: Any) -> None:
            if not self._running:
                return
            if self._node is None:
                from torch.autograd import Variable

                Variable._execution_engine.queue_callback(self._end_node)
            self._end_node()
            self._node = threading.get_ident()
            self._event(NODE_ENTER, number, self._number, BACKWARD, forward=thread)

        return reached

    def _end_node(self) -> None:
        thread, self._node = self._node, None
        if thread is not None and self._running:
            self._event(NODE_LEAVE, thread=thread)

    def _event(
        self,
        kind: int,
        key: int = 0,
        amount: int = 0,
        id: int = 0,
        *,
        forward: int = 0,
        thread: int | None = None,
    ) -> None:
        if not self._running:
            return
        events = self._of(threading.get_ident() if thread is None else thread)
        number = 0 if forward == 0 else self._number_of(forward)
        events += EVENT.pack(time.perf_counter_ns(), key, amount, id, kind, 0, number)

    def _of(self, thread: int) -> bytearray:
        return self._events.setdefault(self._number_of(thread), bytearray())

    def _number_of(self, thread: int) -> int:
        """Small numbers, as PyTorch has for threads."""
        return self._threads.setdefault(thread, len(self._threads) + 1)

    def _entry(
        self,
        kind: int,
        id: int,
        text: str,
        numbers: tuple[int, int, int, int] = (0, 0, 0, 0),
        spare: int = 0,
    ) -> None:
        if not self._running:
            return
        written = text.encode()[: CHUNK // 2]
        padded = written.ljust((len(written) + 7) // 8 * 8, b"\0")
        size = ENTRY.size + len(padded)
        self._entries.append(ENTRY.pack(size, kind, id, *numbers, len(written), spare) + padded)


def _chunked(rows: list[bytes], kind: int, thread: int, order: int) -> Iterator[bytes]:
    """The chunks that hold these one after the other."""
    room = CHUNK - CHUNK_HEAD.size
    begin = 0
    while begin < len(rows):
        end, size = begin, 0
        while end < len(rows) and size + len(rows[end]) <= room:
            size += len(rows[end])
            end += 1
        body = b"".join(rows[begin:end])
        begin = end
        head = CHUNK_HEAD.pack(kind, order, thread, len(body))
        yield (head + body).ljust(CHUNK, b"\0")
        order += 1
