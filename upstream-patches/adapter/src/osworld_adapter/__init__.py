"""Runs one OSWorld attempt in one process; the coordinator is reached over a unix socket."""
