"""The routes that move files and list folders."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from osworld_guest.errors import GuestError
from osworld_guest.fields import text_field, user_path
from osworld_guest.messages import Answer, FileContent, Request, json_answer, text_answer

_PIECE_BYTES = 262144
_DOWNLOAD_SECONDS = 60.0
_NEW_FILE_MODE = 0o664


def send_file(request: Request) -> Answer:
    """The file named by the form field `file_path`; 404 when there is none."""
    return file_answer(user_path(request.form_field("file_path")), "application/octet-stream")


def upload(request: Request) -> Answer:
    """Stores the form's `file_data` as `file_path`; the file appears whole or not at all."""
    target: Path | None = None
    staged: list[Path] = []
    size = 0
    try:
        for part in request.parts():
            if part.name == "file_path":
                target = user_path(part.text())
            elif part.name == "file_data":
                path, size = _stage(part.pieces, target)
                staged.append(path)
        if target is None or len(staged) != 1:
            raise GuestError(400, "The form must have the field 'file_path' and one 'file_data'.")
        _publish(staged[0], target)
    finally:
        for path in staged:
            path.unlink(missing_ok=True)
    return text_answer(f"File uploaded: {size} bytes")


def download_file(request: Request) -> Answer:
    """Fetches `url` from inside the guest into `path`."""
    fields = request.json_object()
    url, target = text_field(fields, "url"), user_path(text_field(fields, "path"))
    if urlsplit(url).scheme not in ("http", "https"):
        raise GuestError(400, f"The address {url!r} is neither http nor https.")
    # Imported late: seldom used, and costs start time.
    from urllib.request import urlopen  # noqa: PLC0415

    try:
        with urlopen(url, timeout=_DOWNLOAD_SECONDS) as source:
            staged, size = _stage(iter(lambda: source.read(_PIECE_BYTES), b""), target)
    except (OSError, ValueError) as problem:
        raise GuestError(500, f"The download of {url!r} failed: {problem}.") from problem
    _publish(staged, target)
    return text_answer(f"File downloaded: {size} bytes")


def list_directory(request: Request) -> Answer:
    """The tree below `path`; symbolic links are leaves."""
    folder = user_path(text_field(request.json_object(), "path"))
    if not folder.exists():
        raise GuestError(404, f"The folder {str(folder)!r} does not exist.")
    if not folder.is_dir():
        raise GuestError(400, f"The path {str(folder)!r} is not a folder.")
    return json_answer({"directory_tree": directory_tree(folder)})


def directory_tree(folder: Path) -> dict[str, Any]:
    """A folder as `type`, `name`, `children`, sorted by name; a folder that may not be read has no children."""
    children: list[dict[str, Any]] = []
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError:
        entries = []
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            children.append(directory_tree(entry))
        else:
            children.append({"type": "file", "name": entry.name})
    return {"type": "directory", "name": folder.name, "children": children}


def file_answer(path: Path, content_type: str) -> Answer:
    """A file to send; 404 when missing, 400 when it is no regular file, 500 when it may not be read."""
    try:
        # Without O_NONBLOCK the opening of a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise GuestError(404, f"The file {str(path)!r} does not exist.") from problem
    except OSError as problem:
        raise GuestError(500, f"The file {str(path)!r} cannot be read: {problem.strerror}.") from problem
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise GuestError(400, f"The path {str(path)!r} is not a regular file.")
    return Answer(200, content_type, FileContent(os.fdopen(descriptor, "rb"), status.st_size))


def _stage(pieces: Iterable[bytes], target: Path | None) -> tuple[Path, int]:
    """Writes into a temporary file, beside the target when it is known, so that publishing is a rename."""
    with _sentences(target):
        folder = Path(tempfile.gettempdir())
        if target is not None:
            folder = Path(os.path.realpath(target)).parent
            folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".upload-", dir=folder)
    staged, size = Path(name), 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                with _sentences(target):
                    file.write(piece)
                size += len(piece)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged, size


def _publish(staged: Path, target: Path) -> None:
    real = Path(os.path.realpath(target))
    if real.is_dir():
        raise GuestError(400, f"The path {str(target)!r} is a folder.")
    if staged.parent != real.parent:
        staged = _move_beside(staged, target)
    with _sentences(target):
        staged.chmod(stat.S_IMODE(real.stat().st_mode) if real.exists() else _NEW_FILE_MODE)
        staged.replace(real)


def _move_beside(staged: Path, target: Path) -> Path:
    """A form that names its target last was staged in another folder, perhaps on another file system."""
    with staged.open("rb") as source:
        beside, _ = _stage(iter(lambda: source.read(_PIECE_BYTES), b""), target)
    staged.unlink()
    return beside


@contextlib.contextmanager
def _sentences(target: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise GuestError(500, f"The file {str(target)!r} cannot be written: {problem.strerror}.") from problem
