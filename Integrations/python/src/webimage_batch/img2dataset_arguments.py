"""Translates the arguments of img2dataset into options of `webimage batch`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from .client import Batch
from .conditions import Conditions
from .lists import FORMATS
from .options import Option

_FORMATS = {"jpg": "jpeg", "png": "png", "webp": "webp"}
_FILTERS = {
    "area": "box",
    "linear": "triangle",
    "bilinear": "triangle",
    "cubic": "catmull-rom",
    "bicubic": "catmull-rom",
    "lanczos": "lanczos3",
    "lanczos4": "lanczos3",
}
_RESERVED = frozenset(
    {
        *("key", "caption", "url", "status", "error_message"),
        *("width", "height", "original_width", "original_height", "exif", "md5", "sha256", "sha512"),
    }
)


class Arguments:
    """The arguments of one call of `download`; raises `ValueError` for those that cannot be honored.

    `further` are options of `Batch` that img2dataset does not have.
    """

    def __init__(self, values: Mapping[str, Any], further: Mapping[str, Option] | None = None) -> None:
        self._values = values
        self._further = dict(further or {})
        self._check_choices()
        self._check_unsupported()
        self._check_hashes()
        self._check_columns()
        self._check_further()
        self.conditions = Conditions(values["max_retryable_rate"], values["min_success_rate"])
        """The conditions for a shard to be complete."""

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    @property
    def warnings(self) -> list[str]:
        """The warnings about ignored arguments."""
        ignored = {
            "processes_count": (1, "one process uses all processors"),
            "subjob_size": (None, "shards are not collected into jobs"),
            "max_shard_retry": (None, "run it again to complete shards"),
            "wandb_project": (None, "nothing is reported to Weights & Biases"),
            "enable_wandb": (False, "nothing is reported to Weights & Biases"),
            "upscale_interpolation": ("lanczos", "images are enlarged with Lanczos-3"),
        }
        return [f"{name} is ignored: {reason}." for name, (default, reason) in ignored.items() if self[name] != default]

    def options(self) -> dict[str, Option]:
        """Returns the options of `Batch`."""
        return {**self._own_options(), **self._further}

    def _own_options(self) -> dict[str, Option]:
        options: dict[str, Option] = {
            **self._size_options(),
            "timeout": self["timeout"],
            "retries": self["retries"],
            "concurrency": self["thread_count"],
            "compute_hash": self["compute_hash"] or "none",
            "exif": True if self["extract_exif"] else None,
            "min_image_size": self["min_image_size"] or None,
            "max_image_area": _whole(self["max_image_area"]),
            "max_aspect_ratio": _finite(self["max_aspect_ratio"]),
            "user_agent_token": self["user_agent_token"],
            "insecure_host": ["*"] if self["ignore_ssl_certificate"] else None,
        }
        for column in self.sent_columns():
            options["verify_hash"] = f"{self['verify_hash'][1]}={column}"
        if self["disallowed_header_directives"] is not None:
            options["disallowed_header_directives"] = ",".join(self["disallowed_header_directives"])
        return {name: value for name, value in options.items() if value is not None}

    def columns(self) -> dict[str, str]:
        """Returns the columns of the output that come from the input, with their names there."""
        columns = {"url": "url" if self["input_format"].startswith("txt") else self["url_col"]}
        if self["caption_col"]:
            columns["caption"] = self["caption_col"]
        columns.update({name: self["verify_hash"][0] for name in self.sent_columns()})
        columns.update({name: name for name in self["save_additional_columns"] or []})
        return columns

    def sent_columns(self) -> list[str]:
        """Returns the columns that the process needs, other than the URL."""
        return [f"expected_{self['verify_hash'][1]}"] if self["verify_hash"] is not None else []

    def _size_options(self) -> dict[str, Option]:
        if self["disable_all_reencoding"]:
            return {"format": "original"}
        # For PNG, img2dataset's quality is a compression level.
        quality = None if self["encode_format"] == "png" else self["encode_quality"]
        options: dict[str, Option] = {"format": _FORMATS[self["encode_format"]], "quality": quality}
        if self["resize_mode"] == "no":
            return {"format": "original"} if self["skip_reencode"] else options
        return {
            **options,
            "filter": _FILTERS[self["downscale_interpolation"]],
            "resize_mode": self["resize_mode"],
            "image_size": self["image_size"],
            "resize_only_if_bigger": self["resize_only_if_bigger"],
            "skip_reencode": True if self["skip_reencode"] else None,
        }

    def _check_choices(self) -> None:
        choices: dict[str, Iterable[str]] = {
            "input_format": FORMATS,
            "output_format": ("files", "webdataset", "parquet", "dummy"),
            "encode_format": _FORMATS,
            "resize_mode": ("no", "border", "keep_ratio", "keep_ratio_largest", "center_crop"),
            "downscale_interpolation": _FILTERS,
            "incremental_mode": ("incremental", "overwrite", "extend"),
        }
        for name, allowed in choices.items():
            if self[name] not in allowed:
                raise ValueError(f"{name} is {self[name]!r}; webimage_batch supports {', '.join(allowed)}.")

    def _check_unsupported(self) -> None:
        engine = {"pyspark": "webimage_spark", "ray": "webimage_ray"}.get(self["distributor"])
        if engine is not None:
            raise ValueError(f"distributor {self['distributor']!r} is not supported: use {engine} within your job.")
        if self["distributor"] != "multiprocessing":
            raise ValueError(f"distributor {self['distributor']!r} is not supported.")
        if self["bbox_col"] is not None:
            raise ValueError("bbox_col is not supported: nothing would be blurred.")
        if self["oom_shard_count"] != 5:
            raise ValueError("oom_shard_count can only be 5.")
        if self["number_sample_per_shard"] < 1:
            raise ValueError("number_sample_per_shard must be at least 1.")

    def _check_further(self) -> None:
        Batch(**self._further)  # type: ignore[arg-type]
        own = sorted(self._own_options().keys() & self._further.keys())
        if own:
            raise ValueError(f"{', '.join(own)} cannot be an option: the arguments of img2dataset set it.")

    def _check_columns(self) -> None:
        if self["input_format"].startswith("txt"):
            # Perhaps input_format is missing: each line of another format would be a URL that fails.
            for name, default in {"url_col": "url", "caption_col": None, "verify_hash": None}.items():
                if self[name] != default:
                    raise ValueError(f"{name} is {self[name]!r}, but txt has no columns; see input_format.")
            if self["save_additional_columns"]:
                raise ValueError("save_additional_columns is set, but txt has no columns; see input_format.")
        used = {*_RESERVED, *self.sent_columns()}
        if self["output_format"] == "parquet":
            used.add(self["encode_format"])  # The column with the images.
        reserved = sorted(used.intersection(self["save_additional_columns"] or []))
        if reserved:
            raise ValueError(f"save_additional_columns has names that the output uses: {', '.join(reserved)}.")

    def _check_hashes(self) -> None:
        if self["compute_hash"] not in (None, "md5", "sha256", "sha512"):
            raise ValueError(f"compute_hash is {self['compute_hash']!r}; it can be md5, sha256, sha512, or None.")
        if self["verify_hash"] is not None and len(self["verify_hash"]) != 2:
            raise ValueError("verify_hash must have two items: a column, and md5, sha256, or sha512.")
        if self["verify_hash"] is not None and self["verify_hash"][1] != self["compute_hash"]:
            raise ValueError("The hash of verify_hash must be the one of compute_hash.")


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
