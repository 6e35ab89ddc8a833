#!/usr/bin/env python3
"""Downloads the URLs of Parquet files with Spark, into Parquet files with the images.

    spark-submit --master 'local[2]' spark_job.py urls.parquet images.parquet

The input has a column `url`; the result keeps all other columns. Each executor needs the wheel of
`webimage-batch`; see `spark.archives` in the README of the package for clusters without it.
"""

import argparse

from pyspark.sql import SparkSession

from webimage_batch import webimage_spark

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("result")
parser.add_argument("--partitions", type=int, default=8, help="about one for 2,000 to 10,000 URLs")
parser.add_argument("--rate", type=float, default=10, help="requests per second to one host")
parser.add_argument("--allow-private", action="store_true", help="also connect to addresses that are not public")
arguments = parser.parse_args()

# A task that is run twice at once would download everything twice.
spark = SparkSession.builder.appName("webimage").config("spark.speculation", "false").getOrCreate()
images = webimage_spark(
    spark.read.parquet(arguments.source),
    # All URLs of a host are in one task, so that the rate holds for the whole cluster.
    partition_by="host",
    partitions=arguments.partitions,
    rate=arguments.rate,
    max_pixel_size=256,
    public_only=not arguments.allow_private,
)
# Written before it is used again: Spark would download everything a second time for the counts.
images.write.mode("overwrite").parquet(arguments.result)
written = spark.read.parquet(arguments.result)
written.groupBy("status", "error_code").count().orderBy("count", ascending=False).show(truncate=False)
spark.stop()
