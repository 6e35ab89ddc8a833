"""The command `webimage-batch`."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import typing
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .binary import find_binary
from .counts import Counts
from .errors import BatchError
from .img2dataset import download


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit status."""
    warnings.formatwarning = lambda message, *_: f"webimage-batch: {message}\n"
    parsed = _parse(sys.argv[1:] if arguments is None else arguments)
    run = parsed.pop("run")
    try:
        result = run(**parsed)
    except BatchError as error:
        print(f"webimage-batch: {error}", file=sys.stderr)
        return error.exit_status if error.exit_status and error.exit_status > 0 else 1
    except (ValueError, OSError, ImportError) as error:
        print(f"webimage-batch: {error}", file=sys.stderr)
        return 64
    except KeyboardInterrupt:
        return 130
    print(json.dumps(vars(result)) if isinstance(result, Counts) else result)
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    # argparse takes what follows -- only right after the other positional arguments.
    index = arguments.index("--") if "--" in arguments else len(arguments)
    own, further = arguments[:index], arguments[index + 1 :]
    parser = _parser()
    parsed = vars(parser.parse_args(own))
    if further and parsed["run"] is find_binary:
        parser.error("the command binary takes no arguments after --")
    if further:
        parsed["run"] = _with_further(parsed["run"], further)
    return parsed


_FURTHER = "Further options, such as --rate=10, follow after --; see webimage batch --help."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("webimage-batch", description="Download images by the million.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "download",
        help="download a list into a folder, with the arguments of img2dataset",
        usage="%(prog)s [-h] --url_list URL_LIST [arguments of img2dataset] [-- options of webimage batch]",
        description=(
            "Downloads a list into a folder, with the arguments and defaults of img2dataset, and prints the counts as "
            "JSON. An argument that cannot be honored is an error; one without an effect is ignored with a warning. "
            "The exit status is 64 for invalid arguments, and otherwise that of webimage batch: 75 if a shard was not "
            "completed because of --max-retryable-rate or --min-success-rate."
        ),
        epilog=_FURTHER,
    )
    command.set_defaults(run=download)
    annotations = typing.get_type_hints(download)
    for name, parameter in inspect.signature(download).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        required = parameter.default is parameter.empty
        # As in img2dataset, a flag needs no value, and None is a value.
        is_flag = annotations[name] is bool
        command.add_argument(
            f"--{name}",
            *([f"--{name.replace('_', '-')}"] if "_" in name else []),
            dest=name,
            required=required,
            default=None if required else parameter.default,
            type=_parser_of(annotations[name]),
            nargs="?" if is_flag else None,
            const=True if is_flag else None,
        )
    command = commands.add_parser(
        "parquet",
        help="download the URLs of Parquet files into Parquet files",
        usage="%(prog)s [-h] [options] source folder [-- options of webimage batch]",
        epilog=_FURTHER,
    )
    command.set_defaults(run=_parquet)
    command.add_argument("source", help="a Parquet file, or a folder of them")
    command.add_argument("folder", help="the folder for the result")
    command.add_argument("--url", default="url", help="the column with the URLs")
    command.add_argument("--image", default="jpg", help="the column for the bytes of the images")
    command.add_argument("--columns", type=_parse_list, help="the columns to keep, as in a,b (default: all)")
    command.add_argument("--send", type=_parse_list, default=[], help="further columns that options need, as in a,b")
    command.add_argument("--column-prefix", default="", help="what the names of the columns of the record begin with")
    command.add_argument("--rows-per-file", type=int, default=10_000)
    command.add_argument("--batch-bytes", type=int, default=8 << 20, help="the approximate size of row groups")
    command.add_argument("--overwrite", action="store_true", help="replace the files of earlier runs")
    command.add_argument(
        "--max-retryable-rate",
        type=float,
        default=0.5,
        help="do not write a file if more than this share of its rows failed for reasons that may be temporary",
    )
    command.add_argument(
        "--min-success-rate",
        type=float,
        default=0.0,
        help="do not write a file if less than this share of its rows succeeded",
    )
    command = commands.add_parser("binary", help="print the path of the webimage binary")
    command.set_defaults(run=find_binary)
    return parser


def _parquet(source: str, folder: str, **options: Any) -> Counts:
    from .parquet import download_parquet

    return download_parquet(source, folder, **options)


def _with_further(run: Callable[..., Any], arguments: Sequence[str]) -> Callable[..., Any]:
    """Returns a function with options of `webimage batch` that follow `--`."""

    def call(**values: Any) -> Any:
        further: dict[str, list[Any]] = {}
        for argument in arguments:
            flag, separator, value = argument.partition("=")
            name = flag[2:].replace("-", "_")
            if not flag.startswith("--"):
                raise ValueError(f"{argument} is not an option: write --name=value.")
            if name in values:
                raise ValueError(f"{flag} is an option of webimage-batch: write it before --.")
            further.setdefault(name, []).append(value if separator else True)
        return run(**values, **{name: found[0] if len(found) == 1 else found for name, found in further.items()})

    return call


def _parser_of(annotation: Any) -> Callable[[str], Any]:
    """Returns the function that reads an argument of a type."""
    kinds = typing.get_args(annotation) or (annotation,)
    parse: Callable[[str], Any] = str
    for kind in kinds:
        parse = _PARSERS.get(typing.get_origin(kind) or kind, parse)
    if type(None) not in kinds:
        return parse

    def parse_optional(text: str) -> Any:
        return None if text == "None" else parse(text)

    return parse_optional


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


_PARSERS: dict[Any, Callable[[str], Any]] = {bool: _parse_flag, int: int, float: float, list: _parse_list}

if __name__ == "__main__":
    sys.exit(main())
