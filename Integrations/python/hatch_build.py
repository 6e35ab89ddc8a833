"""Adds the `webimage` binary and its shared libraries to the wheel."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Adds the folder that `WEBIMAGE_BUNDLE` names, and the platform tag in `WEBIMAGE_PLATFORM`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Declares the files of the bundle; without a bundle, the wheel stays pure Python."""
        bundle = os.environ.get("WEBIMAGE_BUNDLE")
        if not bundle:
            return
        if not (Path(bundle) / "webimage").is_file():
            raise FileNotFoundError(f"{bundle} has no file named webimage.")
        build_data["force_include"][bundle] = "webimage_batch/bundle"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['WEBIMAGE_PLATFORM']}"
