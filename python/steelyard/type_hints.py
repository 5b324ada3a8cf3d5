# SPDX-License-Identifier: Apache-2.0
"""Dtypes that operators and modules are given instead of what autocast's lists say, for a while."""

from collections.abc import Mapping
from contextvars import ContextVar, Token
from types import TracebackType

_HINTS: ContextVar[Mapping[str, object]] = ContextVar("steelyard_type_hints")


class CustomTypeHint:
    """As long as it is entered, what is weighed or run under autocast takes these casts, too.

        with steelyard.CustomTypeHint({"aten::softmax": "float32"}):
            weighing = steelyard.weigh("bert.pt2", amp="bf16")

    Keys are operators ("aten::softmax", with all its overloads) and patterns of modules
    ("encoder.layer.*"); values are dtypes, by name or as torch has them. Of several that are
    entered the innermost decides, and the argument `cast` before all of them. Of one thread, or one
    task.
    """

    def __init__(self, casts: Mapping[str, object]) -> None:
        self._casts = dict(casts)
        self._before: list[Token[Mapping[str, object]]] = []

    def __enter__(self) -> "CustomTypeHint":
        self._before.append(_HINTS.set({**current_type_hints(), **self._casts}))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _HINTS.reset(self._before.pop())


def current_type_hints() -> Mapping[str, object]:
    """Those that are entered now."""
    return _HINTS.get({})
