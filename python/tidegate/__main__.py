"""``python -m tidegate``: the command line."""

from tidegate._cli.main import main

if __name__ == "__main__":
    main()
