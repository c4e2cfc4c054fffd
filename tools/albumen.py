"""The `albumen` command: import, compile, run, targets. One module a command, which imports what it needs when run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..runtime.errors import ExecutionError
from . import compile_command, import_command, run_command, targets_command

COMMANDS = {
    "import": (import_command, "turn a torch.export file (.pt2) into IR text"),
    "compile": (compile_command, "compile a model (.pt2 or .mlir) to an artifact (.alb)"),
    "run": (run_command, "run an artifact (.alb) on arrays from .npy files"),
    "targets": (targets_command, "list the targets, and what this machine has for each"),
}
INTERRUPTED = 130


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="albumen", description="Compile and run PyTorch programs ahead of time.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, text) in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=text, description=text))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. 0: done; 1: an error, printed; 2: wrong command line; 130: interrupted."""
    options = make_parser().parse_args(arguments)
    command, _ = COMMANDS[options.command]
    try:
        return command.run(options)
    except ExecutionError as error:
        print(f"albumen {options.command}: error: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(f"albumen {options.command}: error: this needs the package {error.name}", file=sys.stderr)
        print(f"  to do: pip install {error.name}", file=sys.stderr)
    except OSError as error:
        print(f"albumen {options.command}: error: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    return 1


if __name__ == "__main__":
    sys.exit(main())
