"""One file a command: options in, an exit code out, output on the terminal."""
