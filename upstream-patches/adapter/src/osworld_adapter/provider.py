"""The provider that DesktopEnv gets: it owns nothing and asks the coordinator."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

logger = logging.getLogger("desktopenv.provider")

# A name that DesktopEnv accepts as clean and that its own factory has no branch for: a lost injection fails loudly.
PROVIDER_NAME = "gcp"
MACHINE = "coordinator-sandbox"
PORT_ORDER = ("server", "cdp", "vnc", "vlc")


class SandboxClient(Protocol):
    """Whoever starts, resets and stops this attempt's one sandbox."""

    def request(self, method: str) -> dict[str, int]: ...


class CoordinatedProvider:
    """Upstream's Provider; called with positional and keyword arguments that differ between callers."""

    def __init__(self, client: SandboxClient) -> None:
        self._client = client
        self._ports: dict[str, int] | None = None

    def start_emulator(self, path_to_vm: str, headless: bool, os_type: str = "Ubuntu") -> None:
        logger.info("start %s headless=%s os=%s", path_to_vm, headless, os_type)
        if self._ports is None:
            self._ports = self._client.request("start")

    def get_ip_address(self, path_to_vm: str) -> str:
        if self._ports is None:
            raise RuntimeError(f"{path_to_vm} has not been started")
        return ":".join(["127.0.0.1", *(str(self._ports[name]) for name in PORT_ORDER)])

    def save_state(self, path_to_vm: str, snapshot_name: str) -> None:
        raise NotImplementedError(f"{path_to_vm} cannot be saved as {snapshot_name}; the coordinator owns snapshots")

    def revert_to_snapshot(self, path_to_vm: str, snapshot_name: str) -> str:
        logger.info("revert %s to %s", path_to_vm, snapshot_name)
        self._ports = self._client.request("reset")
        return path_to_vm

    def stop_emulator(self, path_to_vm: str, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        logger.info("stop %s", path_to_vm)
        if self._ports is not None:
            self._ports = None
            self._client.request("stop")


class CoordinatedManager:
    """Upstream's VMManager; there is one machine and nothing to register."""

    def initialize_registry(self, **kwargs: Any) -> None:
        del kwargs

    def add_vm(self, vm_path: str, *args: Any, **kwargs: Any) -> None:
        del vm_path, args, kwargs

    def delete_vm(self, vm_path: str, *args: Any, **kwargs: Any) -> None:
        del vm_path, args, kwargs

    def occupy_vm(self, vm_path: str, pid: int, *args: Any, **kwargs: Any) -> None:
        del vm_path, pid, args, kwargs

    def list_free_vms(self, **kwargs: Any) -> list[str]:
        del kwargs
        return []

    def check_and_clean(self, **kwargs: Any) -> None:
        del kwargs

    def get_vm_path(self, **kwargs: Any) -> str:
        del kwargs
        return MACHINE


Factory = Callable[..., tuple[CoordinatedManager, CoordinatedProvider]]


def make_factory(client: SandboxClient) -> Factory:
    """A stand-in for upstream's factory with the same parameters."""

    def factory(
        provider_name: str, region: str, use_proxy: bool = False
    ) -> tuple[CoordinatedManager, CoordinatedProvider]:
        logger.info("provider %s region=%s proxy=%s", provider_name, region, use_proxy)
        return CoordinatedManager(), CoordinatedProvider(client)

    return factory
