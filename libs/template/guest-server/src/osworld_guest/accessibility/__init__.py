"""The desktop's accessibility tree: read over D-Bus in a process of its own, written as XML."""
