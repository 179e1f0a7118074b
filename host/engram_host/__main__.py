"""`engram`, or `python -m engram_host`."""

import sys


def main() -> None:
    """Run the command."""
    try:
        from engram_host.cli.commands import main as run
    except ModuleNotFoundError as missing:
        if missing.name == "engram":
            # Not installed: the firmware's code, of which the companion uses a part, stands beside the host's.
            from engram_host.firmware import add_to_path

            add_to_path()
            from engram_host.cli.commands import main as run
        else:
            print(
                f"engram: the package {missing.name} is not installed: pip install 'engram[companion]'", file=sys.stderr
            )
            sys.exit(3)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
