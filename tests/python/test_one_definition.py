# SPDX-License-Identifier: Apache-2.0
"""No two files define a class of one name in one namespace.

Compilers do not see such a pair; the linker keeps one of the templates made of both (std::vector's
functions), and the other class is read as what it is not.
"""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

OPENING = re.compile(r"namespace ?([\w:]*) ?\{")
CLOSING = re.compile(r"\}  // namespace")
# At the beginning of a line: what is within a class or function is indented.
DEFINITION = re.compile(
    r"(?:struct|class|enum class|enum) (?:\w+\(\w+\) )?(\w+)(?: final)?(?: :|\s*\{)"
)


def definitions(path: Path) -> list[str]:
    """Returns the qualified names of the classes that a file defines for other files."""
    spaces: list[str] = []
    found = []
    for line in path.read_text().splitlines():
        if opening := OPENING.match(line):
            spaces.append(opening[1])
        elif CLOSING.match(line):
            spaces.pop()
        elif (definition := DEFINITION.match(line)) and "" not in spaces:
            found.append("::".join([*spaces, definition[1]]))
    return found


def test_a_name_has_one_definition() -> None:
    files = defaultdict(set)
    for folder in ("src", "include", "engine"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                for name in definitions(path):
                    files[name].add(str(path.relative_to(ROOT)))
    assert len(files) > 500
    assert {name: where for name, where in files.items() if len(where) > 1} == {}
