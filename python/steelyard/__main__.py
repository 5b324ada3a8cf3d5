# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard` is the command line; under torchrun its `run` is one step of them all.

`watch` runs a Python program, so it is only here.
"""

from __future__ import annotations

import sys

from steelyard import _core, data_parallel


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["watch"]:
        from steelyard import watch_command

        return watch_command.main(words[1:])
    if words[:1] == ["run"]:
        words += _engine(words)
        if data_parallel.rank_count() > 1:
            return data_parallel.main(words[1:])
    return _core.main(words)


def _engine(words: list[str]) -> list[str]:
    """Names the engine, where it has to be found or built; if it cannot be, the command says so."""
    asked = {word.partition("=")[0] for word in words}
    if asked & {"--engine", "--help", "-h"}:
        return []
    from steelyard import engine_library
    from steelyard.errors import UnsupportedError

    try:
        path = engine_library.path()
    except UnsupportedError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        sys.exit(1)
    return ["--engine", path] if path else []


if __name__ == "__main__":
    sys.exit(main())
