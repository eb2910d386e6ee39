"""Golden files are compared as they are; `pytest --update-golden` rewrites them, then read the diff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture(autouse=True, scope="session")
def no_records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What this user has tuned does not decide on tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERFDOJO_RECORDS", str(tmp_path_factory.mktemp("none") / "records.sqlite"))
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return `compare(path, text)`: the file at `path` holds exactly `text`."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing; run pytest --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
