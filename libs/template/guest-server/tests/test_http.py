"""The HTTP side, seen from outside."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path

import pytest

from client import ask
from conftest import Guest


def test_platform_is_answered_without_a_display(guest: Guest) -> None:
    assert ask(guest.port, "GET", "/platform") == (200, b"Linux")


def test_head_gives_the_length_and_no_content(guest: Guest) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", guest.port)
    connection.request("HEAD", "/platform")
    response = connection.getresponse()
    assert (response.status, response.headers["Content-Length"], response.read()) == (200, "5", b"")
    connection.close()


def test_a_connection_serves_many_requests_whatever_their_outcome(guest: Guest) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", guest.port)
    seen = []
    for method, path, body in [
        ("GET", "/platform", None),
        ("POST", "/execute", b"not json"),
        ("POST", "/nowhere", b"x" * 200_000),
        ("GET", "/execute", None),
        ("GET", "/platform", None),
    ]:
        connection.request(method, path, body)
        response = connection.getresponse()
        response.read()
        seen.append((response.status, connection.sock is not None))
    assert seen == [(200, True), (400, True), (404, True), (405, True), (200, True)]
    connection.close()


def test_a_chunked_body_is_understood(guest: Guest) -> None:
    pieces = iter([b'{"command": ["echo", ', b'"chunked"]}'])
    status, content = ask(guest.port, "POST", "/execute", pieces)
    assert (status, json.loads(content)["output"]) == (200, "chunked\n")


def test_the_host_header_does_not_matter(guest: Guest) -> None:
    assert ask(guest.port, "GET", "/platform", headers={"Host": "5000-abc.example.test"})[0] == 200


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/execute", b"", "The request body is not JSON: Expecting value: line 1 column 1 (char 0)."),
        ("/execute", b"[1]", "The request body is not a JSON object."),
        ("/execute", b"{}", "The field 'command' must be a command: a text or a list of texts."),
        ("/execute", b'{"command": "x", "shell": "yes"}', "The field 'shell' must be true or false."),
        ("/execute", b'{"command": "echo \'"}', "The command cannot be split into words: No closing quotation."),
        ("/setup/launch", b'{"command": []}', "The field 'command' must be a command: a text or a list of texts."),
        ("/run_python", b'{"code": 3}', "The field 'code' must be a text that is not empty."),
        ("/run_bash_script", b'{"script": "x", "timeout": -1}', "The field 'timeout' must be a number of seconds."),
        ("/setup/upload", b"", "The request body is not a multipart form."),
        ("/file", b"", "The form field 'file_path' is missing."),
        ("/setup/download_file", b'{"url": "file:///etc/hosts", "path": "x"}', "is neither http nor https"),
        ("/end_recording", b"", "No recording is running."),
    ],
)
def test_bad_input_gives_one_sentence(guest: Guest, path: str, body: bytes, sentence: str) -> None:
    status, content = ask(guest.port, "POST", path, body)
    answer = json.loads(content)
    assert (status, answer["status"]) == (400, "error")
    assert sentence in answer["message"]
    assert answer["error"] == answer["message"]


@pytest.mark.parametrize(
    "head",
    [b"Content-Length: many", b"Transfer-Encoding: chunked"],
)
def test_a_malformed_body_frame_is_refused_and_the_connection_ends(guest: Guest, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", guest.port)) as connection:
        connection.sendall(b"POST /execute HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\nnonsense\r\n")
        connection.settimeout(10)
        received = b""
        while piece := connection.recv(4096):
            received += piece
    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in received


def test_the_screen_without_a_display_is_an_error_with_a_sentence(guest: Guest) -> None:
    status, content = ask(guest.port, "GET", "/screenshot")
    assert (status, "The X server ':987' cannot be used" in json.loads(content)["message"]) == (500, True)


def test_only_the_loopback_address_listens(guest: Guest) -> None:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [words[1] for words in lines if words[3] == "0A" and words[1].endswith(f":{guest.port:04X}")]
    assert listening == [f"0100007F:{guest.port:04X}"]
