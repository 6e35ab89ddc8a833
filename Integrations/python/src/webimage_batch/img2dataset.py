"""The function `download` of img2dataset, carried out by `webimage batch`."""

from __future__ import annotations

import warnings

from .counts import Counts
from .img2dataset_arguments import Arguments
from .options import Option, lasting


def download(
    url_list: str,
    image_size: int = 256,
    output_folder: str = "images",
    processes_count: int = 1,
    resize_mode: str = "border",
    resize_only_if_bigger: bool = False,
    upscale_interpolation: str = "lanczos",
    downscale_interpolation: str = "area",
    encode_quality: int = 95,
    encode_format: str = "jpg",
    skip_reencode: bool = False,
    output_format: str = "files",
    input_format: str = "txt",
    url_col: str = "url",
    caption_col: str | None = None,
    bbox_col: str | None = None,
    thread_count: int | None = None,
    number_sample_per_shard: int = 10000,
    extract_exif: bool = True,
    save_additional_columns: list[str] | None = None,
    timeout: float = 10,
    enable_wandb: bool = False,
    wandb_project: str | None = None,
    oom_shard_count: int = 5,
    compute_hash: str | None = "sha256",
    verify_hash: list[str] | None = None,
    distributor: str = "multiprocessing",
    subjob_size: int | None = None,
    retries: int = 0,
    disable_all_reencoding: bool = False,
    min_image_size: int = 0,
    max_image_area: float = float("inf"),
    max_aspect_ratio: float = float("inf"),
    incremental_mode: str = "incremental",
    max_shard_retry: int | None = None,
    user_agent_token: str | None = None,
    disallowed_header_directives: list[str] | None = None,
    ignore_ssl_certificate: bool = False,
    max_retryable_rate: float = 0.5,
    min_success_rate: float = 0.0,
    **options: Option,
) -> Counts:
    """Downloads a list of URLs into a folder, with the arguments of img2dataset; returns how many succeeded.

    The arguments have img2dataset's names and defaults. An argument that `webimage batch` cannot honor raises
    `ValueError`; one that has no effect, such as `processes_count`, is ignored with a warning. The README lists both.
    `url_list` and `output_folder` can be URLs of fsspec, such as `s3://bucket/folder`. Raises `BatchError` if not all
    shards are complete; images that fail are recorded, and raise no error.

    The other arguments are not img2dataset's. A shard is not written if more than `max_retryable_rate` of its downloads
    failed for reasons that may be temporary, or less than `min_success_rate` of them succeeded; `TryAgainError` is then
    raised in the end. A complete shard of an earlier run that does not meet them is downloaded again, and remains as it
    is if the new one does not, either.

    `options` are the parameters of `Batch`, such as `rate` and `public_only`. Without `on_statistics`, progress is
    shown on standard error: a bar on a terminal, otherwise a line per minute.
    """
    values = dict(locals())
    arguments = Arguments(values, lasting(values.pop("options")))
    for warning in arguments.warnings:
        warnings.warn(warning, stacklevel=2)
    # Not at the top: the client does without pyarrow.
    from .img2dataset_shards import write

    return write(arguments)
