"""`python -m sync_tools` is `sync`."""

from sync_tools.cli import main

if __name__ == "__main__":
    main()
