# SPDX-License-Identifier: Apache-2.0
"""Forms in which what was watched is written."""

import gzip
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from steelyard import watch_command  # noqa: E402


@pytest.fixture
def record(tmp_path: Path) -> Path:
    model = torch.nn.Sequential(torch.nn.Linear(8, 4))
    optimizer = torch.optim.SGD(model.parameters())
    with steelyard.watch(model, optimizer, level="ops", record=tmp_path / "run.record"):
        for _ in range(3):
            model(torch.randn(2, 8)).sum().backward()
            optimizer.step()
    return tmp_path / "run.record"


def written(record: Path, name: str, *words: str) -> bytes:
    out = record.parent / name
    assert watch_command.main(["--read", str(record), "-o", str(out), *words]) == 0
    return out.read_bytes()


def test_the_name_of_the_file_says_the_form(record: Path) -> None:
    assert json.loads(written(record, "a.json"))["schema"] == "steelyard.watch/1"
    assert written(record, "a.csv").startswith(b"path,class,depth")
    assert written(record, "a.txt").startswith(b"Sequential ")
    assert written(record, "a.json", "--format", "csv").startswith(b"path,class,depth")


def test_a_page_stands_alone(record: Path) -> None:
    class Tags(HTMLParser):
        open: list[str]

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "br"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    page = written(record, "a.html").decode()
    assert page.startswith("<!doctype html>")
    assert "By module" in page
    tags = Tags()
    tags.open = []
    tags.feed(page)
    assert tags.open == []


def test_traces_are_of_the_same_record(record: Path) -> None:
    trace = json.loads(written(record, "a.trace.json"))
    assert trace == json.loads(gzip.decompress(written(record, "b.trace.json.gz"))) | {
        "traceName": trace["traceName"]
    }
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    steps = [span for span in spans if span["name"] == "Optimizer.step#SGD.step"]
    assert len(steps) == 3
    assert all(span["cat"] == "user_annotation" for span in steps)
    assert sum(span["name"] == "nn.Module: 0 (Linear)" for span in spans) == 3
    assert b"Optimizer.step#SGD.step" in written(record, "a.pftrace")


def test_a_trace_needs_a_file_and_ranks_a_form(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch_command.main(["--read", str(record), "--format", "perfetto"]) == 1
    assert "Name it with -o" in capsys.readouterr().err
    out = str(record.parent / "a.html")
    assert watch_command.main(["--read", str(record), str(record), "-o", out]) == 1
    assert "html is not for several ranks" in capsys.readouterr().err
