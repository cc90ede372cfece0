from __future__ import annotations

import pytest

from osworld_adapter.outcome import AttemptError
from osworld_adapter.provider import MACHINE, PROVIDER_NAME, make_factory

PORTS = {"vlc": 4, "server": 1, "vnc": 3, "cdp": 2}


class Client:
    def __init__(self) -> None:
        self.requests: list[str] = []

    def request(self, method: str) -> dict[str, int]:
        self.requests.append(method)
        return {name: port + 10 * (method == "reset") for name, port in PORTS.items()}


def test_the_address_holds_the_four_ports_in_upstreams_order() -> None:
    client = Client()
    manager, provider = make_factory(client)(PROVIDER_NAME, "nowhere", use_proxy=False)
    path = manager.get_vm_path(os_type="Ubuntu", region=None, screen_size=(1, 1))
    provider.start_emulator(path, False, "Ubuntu")
    assert (path, provider.get_ip_address(path)) == (MACHINE, "127.0.0.1:1:2:3:4")


def test_a_revert_asks_for_a_reset_and_takes_the_new_ports() -> None:
    client = Client()
    _, provider = make_factory(client)(PROVIDER_NAME, "nowhere")
    provider.start_emulator(MACHINE, False)
    assert provider.revert_to_snapshot(MACHINE, "init_state") == MACHINE
    provider.start_emulator(MACHINE, False)
    assert provider.get_ip_address(MACHINE) == "127.0.0.1:11:12:13:14"
    assert client.requests == ["start", "reset"]


def test_stopping_twice_asks_once() -> None:
    client = Client()
    _, provider = make_factory(client)(PROVIDER_NAME, "nowhere")
    provider.start_emulator(MACHINE, False)
    provider.stop_emulator(MACHINE)
    provider.stop_emulator(MACHINE, "nowhere")
    assert client.requests == ["start", "stop"]


def test_what_never_started_is_not_stopped() -> None:
    class Refusing(Client):
        def request(self, method: str) -> dict[str, int]:
            super().request(method)
            raise AttemptError("sandbox_create_failed", "no room")

    client = Refusing()
    _, provider = make_factory(client)(PROVIDER_NAME, "nowhere")
    with pytest.raises(AttemptError):
        provider.start_emulator(MACHINE, False)
    provider.stop_emulator(MACHINE)
    assert client.requests == ["start"]
