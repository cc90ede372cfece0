"""Files in and out of a real server."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest

from client import ask, multipart, post_json
from conftest import Guest

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def fetch(guest: Guest, path: str) -> tuple[int, bytes]:
    return ask(guest.port, "POST", "/file", urlencode({"file_path": path}).encode(), _FORM)


def upload(guest: Guest, path: str, pieces: Iterator[bytes], *, path_last: bool = False) -> tuple[int, bytes]:
    fields: list[tuple[str, str | None, Iterator[bytes]]] = [
        ("file_path", None, iter([path.encode()])),
        ("file_data", "name.bin", pieces),
    ]
    body, headers = multipart(fields[::-1] if path_last else fields)
    return ask(guest.port, "POST", "/setup/upload", body, headers)


def peak_kilobytes(guest: Guest) -> int:
    status = Path(f"/proc/{guest.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def test_twenty_megabytes_go_in_and_out_unchanged_and_leave_memory_flat(guest: Guest) -> None:
    block = os.urandom(1_000_003)
    before = peak_kilobytes(guest)
    status, text = upload(guest, str(guest.home / "new" / "big.bin"), iter([block] * 20))
    assert (status, text) == (200, b"File uploaded: 20000060 bytes")
    status, content = fetch(guest, "~/new/big.bin")
    assert status == 200
    assert hashlib.sha256(content).digest() == hashlib.sha256(block * 20).digest()
    assert peak_kilobytes(guest) - before < 8_000
    assert [entry.name for entry in (guest.home / "new").iterdir()] == ["big.bin"]


def test_content_that_looks_like_a_boundary_survives(guest: Guest) -> None:
    content = b"\r\n--EDG\r\n--\r\n\r\n--EDGX" + b"\r\n"
    assert upload(guest, "tricky", iter([content[:5], content[5:]]))[0] == 200
    assert (guest.home / "tricky").read_bytes() == content


def test_a_path_that_comes_after_the_data_and_an_empty_file_work(guest: Guest) -> None:
    assert upload(guest, "late/empty", iter([]), path_last=True)[0] == 200
    assert (guest.home / "late/empty").read_bytes() == b""
    assert upload(guest, "late/full", iter([b"abc"]), path_last=True)[0] == 200
    assert (guest.home / "late/full").read_bytes() == b"abc"


def test_a_replaced_file_keeps_its_mode_and_its_link(guest: Guest) -> None:
    real, link = guest.home / "real.sh", guest.home / "link.sh"
    real.write_text("old")
    real.chmod(0o755)
    link.symlink_to(real)
    assert upload(guest, str(link), iter([b"new"]))[0] == 200
    assert (link.is_symlink(), real.read_text(), real.stat().st_mode & 0o777) == (True, "new", 0o755)


def test_a_new_file_can_be_read_by_others(guest: Guest) -> None:
    assert upload(guest, "open.txt", iter([b"x"]))[0] == 200
    assert (guest.home / "open.txt").stat().st_mode & 0o777 == 0o664


def test_an_upload_cut_short_leaves_nothing(guest: Guest) -> None:
    folder = guest.home / "cut"
    folder.mkdir()
    body = b'--EDGE\r\nContent-Disposition: form-data; name="file_path"\r\n\r\ncut/file\r\n'
    body += b'--EDGE\r\nContent-Disposition: form-data; name="file_data"; filename="x"\r\n\r\nhalf of it'
    headers = {"Content-Type": "multipart/form-data; boundary=EDGE"}
    status, content = ask(guest.port, "POST", "/setup/upload", body, headers)
    assert (status, json.loads(content)["message"]) == (400, "The form ended without its closing boundary.")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "status"), [("/no/such/file", 404), ("/etc/hostname/x", 404), ("/etc", 400), ("/dev/null", 400)]
)
def test_what_is_no_file_is_not_sent(guest: Guest, path: str, status: int) -> None:
    answer, content = fetch(guest, path)
    assert (answer, json.loads(content)["status"]) == (status, "error")


def test_a_pipe_is_refused_instead_of_waited_for(guest: Guest) -> None:
    os.mkfifo(guest.home / "pipe")
    assert fetch(guest, "~/pipe")[0] == 400


def test_a_folder_is_listed_as_a_tree(guest: Guest) -> None:
    top = guest.home / "tree"
    (top / "b" / "deep").mkdir(parents=True)
    (top / "a.txt").write_text("")
    (top / "b" / "loop").symlink_to(top)
    status, answer = post_json(guest.port, "/list_directory", {"path": "~/tree"})
    loop, deep = {"type": "file", "name": "loop"}, {"type": "directory", "name": "deep", "children": []}
    folder = {"type": "directory", "name": "b", "children": [deep, loop]}
    file = {"type": "file", "name": "a.txt"}
    assert status == 200
    assert answer == {"directory_tree": {"type": "directory", "name": "tree", "children": [file, folder]}}


@pytest.mark.parametrize(("path", "status"), [("/no/such/folder", 404), ("/etc/hostname", 400)])
def test_what_is_no_folder_is_not_listed(guest: Guest, path: str, status: int) -> None:
    assert post_json(guest.port, "/list_directory", {"path": path})[0] == status


def test_the_desktop_folder_is_told_when_it_exists(guest: Guest) -> None:
    assert ask(guest.port, "POST", "/desktop_path")[0] == 404
    (guest.home / "Desktop").mkdir()
    assert json.loads(ask(guest.port, "POST", "/desktop_path")[1]) == {"desktop_path": f"{guest.home}/Desktop"}


def test_the_guest_downloads_by_itself(guest: Guest, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"content")
    web = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{web.server_port}"
        good = post_json(guest.port, "/setup/download_file", {"url": f"{address}/source", "path": "got/it"})
        bad = post_json(guest.port, "/setup/download_file", {"url": f"{address}/none", "path": "got/none"})
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
    assert good == (200, "File downloaded: 7 bytes")
    assert (guest.home / "got/it").read_bytes() == b"content"
    assert (bad[0], "404" in bad[1]["message"], (guest.home / "got/none").exists()) == (500, True, False)


@pytest.mark.parametrize("path", ["/setup/open_file", "/setup/change_wallpaper"])
def test_a_missing_file_is_not_opened(guest: Guest, path: str) -> None:
    assert post_json(guest.port, path, {"path": "/no/such/file"})[0] == 404
