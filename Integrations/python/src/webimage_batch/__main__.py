"""The command `webimage-batch`."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import typing
from collections.abc import Sequence
from typing import Any

from .binary import find_binary
from .counts import Counts
from .errors import BatchError
from .img2dataset import download


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    parsed = vars(_parser().parse_args(arguments))
    run = parsed.pop("run")
    try:
        result = run(**parsed)
    except BatchError as error:
        print(f"webimage-batch: {error}", file=sys.stderr)
        return error.exit_status if error.exit_status and error.exit_status > 0 else 1
    except (ValueError, OSError, ImportError) as error:
        print(f"webimage-batch: {error}", file=sys.stderr)
        return 64
    print(json.dumps(vars(result)) if isinstance(result, Counts) else result)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("webimage-batch", description="Download images by the million.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "download",
        help="download a list into a folder, with the arguments of img2dataset",
        description=download.__doc__,
    )
    command.set_defaults(run=download)
    annotations = typing.get_type_hints(download)
    for name, parameter in inspect.signature(download).parameters.items():
        required = parameter.default is parameter.empty
        command.add_argument(
            f"--{name}",
            *([f"--{name.replace('_', '-')}"] if "_" in name else []),
            dest=name,
            required=required,
            default=None if required else parameter.default,
            type=_parse_list if "list" in str(annotations[name]) else _PARSERS.get(parameter.annotation, str),
        )
    command = commands.add_parser(
        "parquet",
        help="download the URLs of Parquet files into Parquet files",
        epilog="Further options, such as --max-pixel-size=256, follow after --; see webimage batch --help.",
    )
    command.set_defaults(run=_parquet)
    command.add_argument("source", help="a Parquet file, or a folder of them")
    command.add_argument("folder", help="the folder for the result")
    command.add_argument("--url", default="url", help="the column with the URLs")
    command.add_argument("--image", default="jpg", help="the column for the bytes of the images")
    command.add_argument("--rows-per-file", type=int, default=10_000)
    command.add_argument("--overwrite", action="store_true", help="remove the files of earlier runs first")
    command.add_argument(
        "--max-retryable-rate",
        type=float,
        default=0.5,
        help="do not write a file if more than this share of its rows failed for reasons that may be temporary",
    )
    command.add_argument("arguments", nargs="*", help="options of webimage batch")
    command = commands.add_parser("binary", help="print the path of the webimage binary")
    command.set_defaults(run=find_binary)
    return parser


def _parquet(source: str, folder: str, arguments: Sequence[str], **options: Any) -> Counts:
    from .parquet import download_parquet

    for argument in arguments:
        name, separator, value = argument.partition("=")
        if not name.startswith("--"):
            raise ValueError(f"{argument} is not an option: write --name=value.")
        options[name[2:].replace("-", "_")] = value if separator else True
    return download_parquet(source, folder, **options)


def _parse_flag(text: str) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
    except KeyError:
        raise argparse.ArgumentTypeError(f"{text} is neither True nor False") from None


def _parse_list(text: str) -> list[str]:
    """Reads `["a","b"]`, `[a,b]`, or `a,b`."""
    if text.startswith("["):
        try:
            return [str(item) for item in json.loads(text)]
        except ValueError:
            text = text.strip("[]")
    return [item.strip().strip("'\"") for item in text.split(",") if item.strip()]


_PARSERS: dict[Any, Any] = {
    "bool": _parse_flag,
    "int": int,
    "int | None": int,
    "float": float,
}

if __name__ == "__main__":
    sys.exit(main())
