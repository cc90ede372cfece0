"""HTTP server of an OSWorld desktop sandbox: commands, files, screen, windows, recording, accessibility tree."""
