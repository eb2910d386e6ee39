"""Tables of the grammars are kept; a damaged file, or no place to keep them, changes nothing."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from perfdojo.grammar import parser

SCHEDULE = "schedule k on avx2\nend\n"


def test_tables_are_kept_and_a_damaged_file_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    first = parser("schedule").parse(SCHEDULE)
    kept = tmp_path / "cache" / "schedule.tables"
    good = kept.read_bytes()
    assert parser("schedule").parse(SCHEDULE) == first
    for damaged in (b"", good[:1000], b"\x80" * 2000, good[:-200]):
        kept.write_bytes(damaged)
        assert parser("schedule").parse(SCHEDULE) == first
        assert kept.stat().st_size > 2000


def test_no_folder_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "file" / "cache"))
    assert parser("schedule").parse(SCHEDULE).children
