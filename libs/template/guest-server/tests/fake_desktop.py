"""A session bus, an accessibility bus on it and three applications: one sound, one hung, one that went away.

Run as `dbus-run-session -- python3 fake_desktop.py COMMAND...`: runs the command beside itself, ends with its status.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

from gi.repository import Gio, GLib

ACCESSIBLE = """<node><interface name="org.a11y.atspi.Accessible">
<method name="GetChildren"><arg type="a(so)" direction="out"/></method>
<method name="GetRole"><arg type="u" direction="out"/></method>
<method name="GetState"><arg type="au" direction="out"/></method>
<method name="GetAttributes"><arg type="a{ss}" direction="out"/></method>
<method name="GetInterfaces"><arg type="as" direction="out"/></method>
<property name="Name" type="s" access="read"/><property name="ChildCount" type="i" access="read"/>
</interface><interface name="org.a11y.atspi.Text">
<method name="GetText"><arg type="i" direction="in"/><arg type="i" direction="in"/>
<arg type="s" direction="out"/></method>
</interface><interface name="org.a11y.atspi.Component">
<method name="GetExtents"><arg type="u" direction="in"/><arg type="(iiii)" direction="out"/></method>
<method name="GetAccessibleAtPoint"><arg type="i" direction="in"/><arg type="i" direction="in"/>
<arg type="u" direction="in"/><arg type="(so)" direction="out"/></method>
</interface><interface name="org.a11y.Bus"><method name="GetAddress"><arg type="s" direction="out"/></method>
</interface></node>"""
ROOT_PATH = "/org/a11y/atspi/accessible/root"
# Numbers of AT-SPI: the roles application, frame and terminal, and the bits of three states.
APPLICATION, FRAME, TERMINAL = 75, 23, 60
ACTIVE, FOCUSED, SHOWING, VISIBLE = 1, 12, 25, 30


def objects(sound: str) -> dict[str, dict[str, Any]]:
    def child(name: str) -> tuple[str, str]:
        return (sound, f"/{name}")

    states = 1 << SHOWING | 1 << VISIBLE
    return {
        ROOT_PATH: {"name": "gnome-terminal-server", "role": APPLICATION, "children": [child("frame")], "states": 0},
        "/frame": {
            "name": "a window",
            "role": FRAME,
            "children": [child("terminal"), child("gone")],
            "states": states | 1 << ACTIVE,
        },
        "/terminal": {"name": "Terminal", "role": TERMINAL, "children": [], "states": states | 1 << FOCUSED},
    }


def answer(described: dict[str, Any], method: str, path: str) -> Any:
    return {
        "GetChildren": lambda: GLib.Variant("(a(so))", (described["children"],)),
        "GetRole": lambda: GLib.Variant("(u)", (described["role"],)),
        "GetState": lambda: GLib.Variant("(au)", ([described["states"] & 0xFFFFFFFF, 0],)),
        "GetAttributes": lambda: GLib.Variant("(a{ss})", ({"toolkit": "fake", "id": path[1:]},)),
        "GetInterfaces": lambda: GLib.Variant("(as)", (["org.a11y.atspi.Text", "org.a11y.atspi.Component"],)),
        "GetText": lambda: GLib.Variant("(s)", (f"text of {path}\n",)),
        "GetExtents": lambda: GLib.Variant("((iiii))", ((1, 2, 30, 40),)),
    }[method]()


class Application:
    """One connection that answers for a table of objects, or keeps silent."""

    def __init__(self, address: str) -> None:
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        self.name = self.connection.get_unique_name()
        self.table: dict[str, dict[str, Any]] = {}
        self.silent = False

    def publish(self, table: dict[str, dict[str, Any]]) -> None:
        self.table = table
        interfaces = Gio.DBusNodeInfo.new_for_xml(ACCESSIBLE).interfaces
        for path in table:
            for interface in interfaces:
                self.connection.register_object(path, interface, self._called, self._property, None)

    def _called(self, *call: Any) -> None:
        _, _, path, _, method, _, invocation = call
        if not self.silent:
            invocation.return_value(answer(self.table[path], method, path))

    def _property(self, *call: Any) -> Any:
        _, _, path, _, name = call
        described = self.table[path]
        shown: Any = GLib.Variant("s", described["name"])
        return shown if name == "Name" else GLib.Variant("i", len(described["children"]))


def serve_address(address: str) -> None:
    connection = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    interfaces = {found.name: found for found in Gio.DBusNodeInfo.new_for_xml(ACCESSIBLE).interfaces}

    def called(*call: Any) -> None:
        call[-1].return_value(GLib.Variant("(s)", (address,)))

    connection.register_object("/org/a11y/bus", interfaces["org.a11y.Bus"], called, None, None)
    Gio.bus_own_name_on_connection(connection, "org.a11y.Bus", Gio.BusNameOwnerFlags.NONE, None, None)


def main(command: list[str]) -> int:
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True
    )
    assert bus.stdout is not None
    address = bus.stdout.readline().strip()
    registry, sound, hung = Application(address), Application(address), Application(address)
    sound.publish(objects(sound.name))
    hung.publish({ROOT_PATH: {"name": "hung", "role": APPLICATION, "children": [], "states": 0}})
    # Its name is told, as the bus library answers that itself; everything else is left open.
    hung.silent = True
    children = [(application, ROOT_PATH) for application in (hung.name, ":9.99", sound.name)]
    registry.publish({ROOT_PATH: {"name": "main", "role": 14, "children": children, "states": 0}})
    Gio.bus_own_name_on_connection(
        registry.connection, "org.a11y.atspi.Registry", Gio.BusNameOwnerFlags.NONE, None, None
    )
    serve_address(address)
    loop = GLib.MainLoop()
    status = 1

    def run() -> None:
        nonlocal status
        status = subprocess.run(command, check=False).returncode
        loop.quit()

    threading.Thread(target=run).start()
    loop.run()
    bus.terminate()
    bus.wait()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
