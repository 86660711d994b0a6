"""``python -m l1lsmi``: the command line."""

from l1lsmi._cli import main

if __name__ == "__main__":
    main()
