# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
import steelyard
from steelyard import progress

BERT = Path(__file__).parents[2] / "data/published/raf-bert-base-b32-s128.syt"


def test_the_graph_runtime_tells_how_far_it_is() -> None:
    # It tells each tenth of a program, if it has that many kernels.
    told: list[tuple[int, int]] = []
    steelyard.weigh(BERT, runtime="graph", progress=lambda done, total: told.append((done, total)))
    assert told and told == sorted(told)
    assert all(0 <= done <= total for done, total in told)


def test_an_exception_of_the_listener_ends_the_weighing() -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        steelyard.weigh(BERT, runtime="graph", progress=interrupt)


def test_who_listens() -> None:
    assert progress.listener(False) is None
    assert callable(progress.listener(True))


def test_a_plain_bar(capsys: pytest.CaptureFixture[str]) -> None:
    progress._plain_bar(1, 2)
    progress._plain_bar(2, 2)
    half, whole = capsys.readouterr().err.strip("\r\n").split("\r")
    assert half.count("#") * 2 == whole.count("#") == progress.WIDTH
