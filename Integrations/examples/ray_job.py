#!/usr/bin/env python3
"""Downloads the URLs of Parquet files with Ray Data, into Parquet files with the images.

    python ray_job.py urls.parquet images

The input has a column `url`; the result keeps all other columns. Each node needs the wheel of
`webimage-batch`; `--wheel` installs it there.
"""

import argparse

import ray

from webimage_batch import webimage_ray

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("result")
parser.add_argument("--actors", type=int, default=1, help="one for each machine")
parser.add_argument("--num-cpus", type=float, default=1, help="the CPUs that an actor reserves")
parser.add_argument("--rate", type=float, default=10, help="requests per second to one host, in all actors together")
parser.add_argument("--wheel", help="the wheel for nodes that do not have the package")
parser.add_argument("--allow-private", action="store_true", help="also connect to addresses that are not public")
arguments = parser.parse_args()

ray.init(runtime_env={"pip": [arguments.wheel]} if arguments.wheel else None)
images = webimage_ray(
    ray.data.read_parquet(arguments.source),
    actors=arguments.actors,
    num_cpus=arguments.num_cpus,
    # Each actor takes its part of the rate.
    rate=arguments.rate,
    sharers=arguments.actors,
    max_pixel_size=256,
    public_only=not arguments.allow_private,
)
images.write_parquet(arguments.result)
written = ray.data.read_parquet(arguments.result, columns=["status", "error_code"])
print(written.groupby(["status", "error_code"]).count().to_pandas().to_string(index=False))
