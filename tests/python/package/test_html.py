# SPDX-License-Identifier: Apache-2.0
from html.parser import HTMLParser
from pathlib import Path

import steelyard
from programs import LINEAR, written

VOID = {"br"}


class Checked(HTMLParser):
    """Opens and closes tags, and refuses any that do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def shown(folder: Path, text: str) -> str:
    html = steelyard.weigh(written(folder, text), train="sgd", loss="mse")._repr_html_()
    checked = Checked()
    checked.feed(html)
    assert not checked.open
    return " ".join(checked.texts)


def test_it_has_the_reports_parts(tmp_path: Path) -> None:
    words = shown(tmp_path, LINEAR)
    for part in ("one linear", "Memory", "Work", "By operator", "aten::linear", "parameters"):
        assert part in words


def test_names_from_files_are_only_text(tmp_path: Path) -> None:
    assert "<script>" in shown(tmp_path, LINEAR.replace("one linear", "<script>"))
