# SPDX-License-Identifier: Apache-2.0
"""Runs each test that takes a `row` for every row, on calls that are made once for all tests."""

import gc

import pytest
from recorder import isolated
from table import rows
from trials import Steps, Trial, selected, try_rows, try_steps_of


def pytest_configure(config: pytest.Config) -> None:
    # PyTorch warns of calls that it will refuse one day; they are made on purpose.
    config.addinivalue_line("filterwarnings", "ignore")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "row" in metafunc.fixturenames:
        metafunc.parametrize("row", rows(), ids=[row.name for row in rows()])


def pytest_collection_finish() -> None:
    # Each recording collects garbage first, which need not be looked for among the tests.
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def trials(request: pytest.FixtureRequest) -> dict[str, list[Trial]]:
    """The trials of the rows that are selected, by name."""
    return isolated(try_rows, selected(request))


@pytest.fixture(scope="session")
def steps(request: pytest.FixtureRequest) -> Steps:
    """The steps of the rows that are selected, by name."""
    return isolated(try_steps_of, selected(request))
