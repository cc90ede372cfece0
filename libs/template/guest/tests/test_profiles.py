"""The decisions of the profile build on small files; the applications themselves run in the image build."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from profiles import browser, libreoffice, vlc
from profiles.desktop import ProfileError
from rename_browser_windows import renamed

EVERY_VLC_OPTION = "".join(f"# about {name}\n#{name}=\n\n" for name, _ in vlc.OPTIONS)
EMPTY_REGISTRY = f'<?xml version="1.0"?>\n<oor:items xmlns:oor="{libreoffice.OOR}"></oor:items>\n'


def test_vlc_options_replace_their_commented_lines_and_leave_the_rest(tmp_path: Path) -> None:
    settings = tmp_path / "vlcrc"
    settings.write_text(vlc.with_options("#qt-bgcone=1\n" + EVERY_VLC_OPTION))
    assert vlc.missing_options(settings) == []
    assert settings.read_text().startswith("#qt-bgcone=1\n# about")
    assert len(settings.read_text().splitlines()) == 1 + 3 * len(vlc.OPTIONS)


def test_an_option_that_vlc_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(ProfileError, match="http-password"):
        vlc.with_options(EVERY_VLC_OPTION.replace("#http-password=", "#http-other="))


def test_a_missing_vlc_option_is_named(tmp_path: Path) -> None:
    settings = tmp_path / "vlcrc"
    settings.write_text(vlc.with_options(EVERY_VLC_OPTION).replace("http-port=8080", "http-port=80"))
    assert vlc.missing_options(settings) == ["http-port"]


def test_libreoffice_items_are_added_once_however_often_they_are_written(tmp_path: Path) -> None:
    registry = tmp_path / "registrymodifications.xcu"
    registry.write_text(EMPTY_REGISTRY)
    assert len(libreoffice.missing_items(registry)) == len(libreoffice.ITEMS)
    libreoffice.write_items(registry)
    once = registry.read_bytes()
    libreoffice.write_items(registry)
    assert registry.read_bytes() == once
    assert libreoffice.missing_items(registry) == []


def test_a_libreoffice_item_with_another_value_is_named_and_then_replaced(tmp_path: Path) -> None:
    registry = tmp_path / "registrymodifications.xcu"
    registry.write_text(EMPTY_REGISTRY)
    libreoffice.write_items(registry)
    registry.write_text(registry.read_text().replace("MS Word 2007 XML", "writer8"))
    assert [item.rsplit("/", 1)[1] for item in libreoffice.missing_items(registry)] == ["ooSetupFactoryDefaultFilter"]
    libreoffice.write_items(registry)
    assert "writer8" not in registry.read_text()


def test_the_browser_searches_with_google_and_every_other_fault_of_its_profile_is_named(tmp_path: Path) -> None:
    file = tmp_path / "Preferences"
    preferences = {"profile": {"exit_type": "Crashed"}, "browser": {"window_placement": {"maximized": False}}}
    file.write_text(json.dumps(preferences))
    browser.search_with_google(file)
    assert browser.faults(file) == ["the browser's last exit: Crashed", "the browser's window is maximized: False"]


def data_pack(texts: list[bytes], aliases: bytes) -> bytes:
    data_at = 12 + 6 * (len(texts) + 1) + len(aliases)
    table = b""
    for number in range(len(texts) + 1):
        table += struct.pack("<HI", 100 + number, data_at + sum(map(len, texts[:number])))
    return struct.pack("<IBxxxHH", 5, 1, len(texts), len(aliases) // 4) + table + aliases + b"".join(texts)


def test_only_the_window_titles_change_in_a_data_pack() -> None:
    aliases = struct.pack("<HH", 7, 1)
    before = [b"Chromium", b"About Chromium", b"", b"$1 - Chromium", b"The Chromium Authors"]
    after = [b"Google Chrome", b"About Chromium", b"", b"$1 - Google Chrome", b"The Chromium Authors"]
    assert renamed(data_pack(before, aliases)) == data_pack(after, aliases)


def test_a_data_pack_of_another_version_or_without_the_texts_is_refused() -> None:
    pack = bytearray(data_pack([b"Chromium", b"$1 - Chromium"], b""))
    with pytest.raises(ValueError, match="lacks"):
        renamed(data_pack([b"Chromium"], b""))
    pack[0] = 4
    with pytest.raises(ValueError, match="version 4"):
        renamed(bytes(pack))
