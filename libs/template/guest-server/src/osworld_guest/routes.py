"""Which path is answered by what."""

from __future__ import annotations

from osworld_guest import command_routes, desktop_routes, file_routes
from osworld_guest.desktop_routes import DesktopRoutes
from osworld_guest.http_server import RouteTable


def route_table(desktop: DesktopRoutes) -> RouteTable:
    """All routes of the server."""
    return {
        "/execute": ("POST", command_routes.execute),
        "/setup/execute": ("POST", command_routes.execute),
        "/execute_with_verification": ("POST", command_routes.execute_with_verification),
        "/setup/execute_with_verification": ("POST", command_routes.execute_with_verification),
        "/setup/launch": ("POST", command_routes.launch_application),
        "/run_python": ("POST", command_routes.run_python),
        "/run_bash_script": ("POST", command_routes.run_bash_script),
        "/file": ("POST", file_routes.send_file),
        "/setup/upload": ("POST", file_routes.upload),
        "/setup/download_file": ("POST", file_routes.download_file),
        "/list_directory": ("POST", file_routes.list_directory),
        "/platform": ("GET", desktop_routes.platform_name),
        "/desktop_path": ("POST", desktop_routes.desktop_path),
        "/wallpaper": ("POST", desktop_routes.wallpaper),
        "/setup/change_wallpaper": ("POST", desktop_routes.change_wallpaper),
        "/setup/open_file": ("POST", desktop_routes.open_file),
        "/setup/activate_window": ("POST", desktop_routes.activate_window),
        "/setup/close_window": ("POST", desktop_routes.close_window),
        "/screenshot": ("GET", desktop.screenshot),
        "/screen_size": ("POST", desktop.screen_size),
        "/cursor_position": ("GET", desktop.cursor_position),
        "/window_size": ("POST", desktop.window_size),
        "/accessibility": ("GET", desktop.accessibility),
        "/terminal": ("GET", desktop.terminal),
        "/start_recording": ("POST", desktop.start_recording),
        "/end_recording": ("POST", desktop.end_recording),
    }
