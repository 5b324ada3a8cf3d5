# SPDX-License-Identifier: Apache-2.0
"""A report as HTML for notebooks: its sections, bars, charts, tables and notes."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from steelyard import _core

CLAIMS = {_core.Claim.AT_LEAST: "≥ ", _core.Claim.ESTIMATED: "≈ "}
STYLES = {
    _core.Style.STRONG: "<b>{}</b>",
    _core.Style.DIM: '<span style="opacity:0.6">{}</span>',
    _core.Style.WARNING: '<span style="color:#b45309">{}</span>',
}
PLAIN_BAR = "#5b8def"
COLOURS = {
    _core.Style.BLUE: PLAIN_BAR,
    _core.Style.GREEN: "#57a773",
    _core.Style.YELLOW: "#d9a441",
    _core.Style.RED: "#d1605e",
}
CHART_WIDTH, CHART_HEIGHT = 640, 90


def written(body: Iterable[object]) -> str:
    """Returns the blocks of a document as one element."""
    return f'<div class="steelyard">{"".join(_block(block) for block in body)}</div>'


def _block(block: object) -> str:
    if isinstance(block, _core.Headline):
        title = f"<b>{escape(block.title)}</b> " if block.title else ""
        return f"<p>{title}{_sentence(block.text)}</p>"
    if isinstance(block, _core.Paragraph):
        return f'<p style="margin-left:{block.level}em">{_sentence(block.text)}</p>'
    if isinstance(block, _core.BarList):
        return _bars(block)
    if isinstance(block, _core.Chart):
        return _chart(block)
    if isinstance(block, _core.Table):
        return _table(block)
    if isinstance(block, _core.NoteList):
        return "<ul>" + "".join(f"<li>{_sentence(note)}</li>" for note in block.notes) + "</ul>"
    raise TypeError(f"a document has no {type(block).__name__}")


def _quantity(quantity: _core.Quantity) -> str:
    number = _core.format(quantity.value, quantity.unit, sign=quantity.sign)
    return CLAIMS.get(quantity.claim, "") + number


def _span(span: _core.Span) -> str:
    content = span.content
    text = content if isinstance(content, str) else _quantity(content)
    return STYLES.get(span.style, "{}").format(escape(text))


def _sentence(spans: Iterable[_core.Span]) -> str:
    return "".join(_span(span) for span in spans)


def _bars(block: _core.BarList) -> str:
    rows = []
    for bar in block.bars:
        colour = COLOURS.get(bar.style, PLAIN_BAR)
        length = f"background:{colour};height:0.8em;width:{12 * bar.fraction:.2f}em"
        cells = [
            f'<td style="text-align:left">{escape(bar.label)}</td>',
            f'<td style="text-align:right">{escape(_quantity(bar.amount))}</td>',
            f'<td style="text-align:left"><div style="{length}"></div></td>',
            f"<td>{_sentence(bar.rate)}</td><td>{_sentence(bar.note)}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _chart(block: _core.Chart) -> str:
    points = [point for series in block.series for point in series.points]
    if not points:
        return ""
    right = max(point.x for point in points) or 1
    low = block.baseline
    high = max(max(point.value for point in points), low + 1)
    lines = []
    for series in block.series:
        places = [
            f"{CHART_WIDTH * point.x / right:.1f},"
            f"{CHART_HEIGHT * (1 - (point.value - low) / (high - low)):.1f}"
            for point in series.points
        ]
        lines.append(f'<polyline points="{" ".join(places)}" fill="none" stroke="#5b8def"/>')
    top = escape(_core.format(high, block.unit))
    return (
        f'<p>{top}<br><svg width="{CHART_WIDTH}" height="{CHART_HEIGHT}">{"".join(lines)}</svg></p>'
    )


def _table(block: _core.Table) -> str:
    headers = "".join(f"<th>{escape(column.header)}</th>" for column in block.columns)
    sides = ["right" if c.align == _core.Align.RIGHT else "left" for c in block.columns]
    rows = []
    for row in block.rows:
        cells = []
        for place, (cell, side) in enumerate(zip(row.cells, sides, strict=False)):
            indent = f";padding-left:{row.level + 0.5}em" if place == 0 else ""
            cells.append(f'<td style="text-align:{side}{indent}">{_span(cell)}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = f"<thead><tr>{headers}</tr></thead>" if any(c.header for c in block.columns) else ""
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"
