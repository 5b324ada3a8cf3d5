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
    if words[:1] == ["run"] and data_parallel.rank_count() > 1:
        return data_parallel.main(words[1:])
    return _core.main(words)


if __name__ == "__main__":
    sys.exit(main())
