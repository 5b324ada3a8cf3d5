# SPDX-License-Identifier: Apache-2.0
"""The form of golden tests, as tools/run_golden.py reads and writes it."""

import io
import zipfile
from pathlib import Path

import pytest
import run_golden
from run_golden import BadTestError, Outcome, check, mask, model_of, parse, render

PROGRAM = """#!/bin/sh
# Stands in for steelyard: prints its arguments and the first line of its input.
echo "$1 $3"; head -n 1 "$2"; echo "done in 6.2 ms"
[ "$1" = weigh ] || { echo "no command $1" >&2; exit 2; }
"""

PASSING = """# RUN: steelyard weigh %s
# RUN: --depth=1
model
# OUT
weigh --depth=1
# RUN: steelyard weigh %s
done in 417 us
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_golden, "ROOT", tmp_path)
    path = tmp_path / "steelyard"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


def write_test(program: Path, text: str) -> Path:
    path = program.parent / "some.test"
    path.write_text(text)
    return path


def test_passes_where_only_a_measured_time_differs(program: Path) -> None:
    assert check(write_test(program, PASSING), program, rebase=False) is None


def test_shows_a_difference_as_a_diff(program: Path) -> None:
    problem = check(
        write_test(program, PASSING.replace("# OUT\nweigh", "# OUT\nwatch")), program, False
    )
    assert problem is not None
    assert "-watch --depth=1\n+weigh --depth=1\n" in problem


def test_expects_a_refusal(program: Path) -> None:
    run = "# RUN: steelyard guess %s\n"
    text = f"{run}# EXIT: 2\n# OUT\nguess \n{run}done in 1 s\n# ERR\nno command guess\n"
    assert check(write_test(program, text), program, False) is None
    wrong_status = text.replace("EXIT: 2", "EXIT: 1")
    assert "-# EXIT: 1\n+# EXIT: 2\n" in (
        check(write_test(program, wrong_status), program, False) or ""
    )


def test_rebase_makes_the_test_pass(program: Path) -> None:
    path = write_test(program, "# RUN: steelyard guess %s\nmodel\n")
    assert check(path, program, rebase=True) is None
    assert check(path, program, rebase=False) is None
    assert path.read_text().startswith(
        "# RUN: steelyard guess %s\nmodel\n# EXIT: 2\n# OUT\nguess \n"
    )


def test_parsed_test_prints_as_it_was(program: Path) -> None:
    golden = parse(write_test(program, PASSING))
    assert render(golden, golden.expected) == PASSING


@pytest.mark.parametrize("text", ["", "# RUN: rm %s\n", "# RUN: steelyard\n# EXIT: 1\nstray\n"])
def test_refuses_a_malformed_test(program: Path, text: str) -> None:
    with pytest.raises(BadTestError):
        parse(write_test(program, text))


def test_masks_measured_times_only() -> None:
    printed = Outcome(0, "predicted 3.1 ms\nread in 12.5 ms, weighed in 800 µs, in 3 steps\n", "")
    assert mask(printed).out == "predicted 3.1 ms\nread in <time>, weighed in <time>, in 3 steps\n"
    report = Outcome(0, '"step_seconds": 0.1, "elapsed_seconds": 1.5e-05}', "")
    assert mask(report).out == '"step_seconds": 0.1, "elapsed_seconds": <time>}'


def test_an_input_may_be_an_archive(program: Path) -> None:
    text = "# RUN: steelyard weigh %s\n# FILE: a/b.json\n{}\n# FILE: c\nx\n# OUT\n"
    extension, content = model_of(parse(write_test(program, text)))
    assert extension == ".pt2"
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        assert packed.read("a/b.json") == b"{}\n"
        assert packed.read("c") == b"x\n"


def test_an_input_may_be_bytes(program: Path) -> None:
    text = "# RUN: steelyard weigh %s\n# BASE64: onnx\nAAEC\n# OUT\n"
    assert model_of(parse(write_test(program, text))) == (".onnx", b"\x00\x01\x02")
