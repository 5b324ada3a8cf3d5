# SPDX-License-Identifier: Apache-2.0
"""What Steelyard raises: a class for each kind of failure, with the command line's sentences."""


class SteelyardError(Exception):
    """That something did not work.

    Attributes:
        message: what is wrong, with the values that disagree.
        where: the file, then the node or key in it; may be empty.
        hint: what would help, as a full sentence; may be empty.
    """

    def __init__(self, message: str, where: str = "", hint: str = "") -> None:
        super().__init__(message, where, hint)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        line = f"{self.where}: {self.message}" if self.where else self.message
        if not self.hint:
            return line
        stop = "" if line.endswith((".", "?", "!")) else "."
        return f"{line}{stop} {self.hint}"


class InvalidInputError(SteelyardError, ValueError):
    """The input contradicts its own format or the rules of its operators."""


class UnsupportedError(SteelyardError, NotImplementedError):
    """The input may well be right, but Steelyard does not handle it (yet)."""


class NotFoundError(SteelyardError, LookupError):
    """A file, tensor, module or name that was asked for does not exist."""


class UsageError(SteelyardError, ValueError):
    """The question itself is wrong: options that contradict each other."""


class InternalError(SteelyardError, RuntimeError):
    """A defect of Steelyard's own, caught before it did harm."""


class ExportError(UnsupportedError):
    """PyTorch cannot write a module down as a graph.

    Attributes:
        cause: PyTorch's own exception, where there is one. Python does not show its traceback,
            most of which lies in PyTorch: `raise error.cause` does.
    """

    def __init__(
        self, message: str, where: str = "", hint: str = "", cause: BaseException | None = None
    ) -> None:
        super().__init__(message, where, hint)
        self.cause = cause
