"""`engram`, or `python -m engram_host`."""

import sys

from engram_host.extras import missing_package


def main() -> None:
    try:
        from engram_host.cli.commands import main as run
    except ModuleNotFoundError as problem:
        print(f"engram: {missing_package(problem.name)}", file=sys.stderr)
        sys.exit(3)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
