/// The ways to convert a list of URLs to a folder of small JPEGs.
enum PipelineEngine: String, CaseIterable, Sendable {
    case webimage
    case img2dataset
    /// curl for all downloads, followed by vipsthumbnail for all thumbnails.
    case curlAndVipsthumbnail = "curl+vipsthumbnail"
    /// The commands of libjpeg, with local files and without a filter: the limit of the codec.
    case djpegAndCjpeg = "djpeg+cjpeg"

    /// Returns the commands to run one after the other.
    ///
    /// They write the JPEGs to `batch.results` or to folders in it.
    func commands(for batch: PipelineBatch) throws -> [Command] {
        switch self {
        case .webimage:
            return [
                Command(
                    try .webimage(),
                    [
                        "get", "--input", batch.list, "--max-pixel-size", "\(batch.maximumSide)", "--quality",
                        "\(batch.quality)", "--concurrency", "\(batch.concurrency)", "--per-host",
                        "\(batch.concurrency)", "--output", batch.results,
                    ])
            ]
        case .img2dataset:
            // Two shards for each process, because a process takes whole shards.
            let shard = max(1, batch.urls.count / (batch.processes * 2))
            return [
                Command(
                    try Tool("img2dataset", variable: "IMG2DATASET"),
                    [
                        "--url_list", batch.list, "--output_folder", batch.results, "--output_format", "files",
                        "--processes_count", "\(batch.processes)",
                        "--thread_count", "\(batch.concurrency / batch.processes)",
                        "--number_sample_per_shard", "\(shard)", "--image_size", "\(batch.maximumSide)",
                        "--resize_mode", "keep_ratio_largest", "--resize_only_if_bigger", "True",
                        "--encode_quality", "\(batch.quality)",
                    ])
            ]
        case .curlAndVipsthumbnail:
            return [
                Command(
                    try Tool("curl"),
                    ["-sS", "--parallel", "--parallel-max", "\(batch.concurrency)", "--config", batch.downloads]),
                Command(
                    try Tool("xargs"),
                    [
                        "-a", batch.originals, "-P", "\(batch.processes)", "-n", "50",
                        try Tool("vipsthumbnail").path, "--size", "\(batch.maximumSide)",
                        "-o", "\(batch.results)/%s.jpg[Q=\(batch.quality)]",
                    ]),
            ]
        case .djpegAndCjpeg:
            let djpeg = try Tool("djpeg").path
            let cjpeg = try Tool("cjpeg").path
            let script = """
                for path; do
                    count=$((count + 1))
                    \(djpeg) -scale 2/8 "$path" |
                        \(cjpeg) -quality \(batch.quality) -outfile "\(batch.results)/$$-$count.jpg" || exit 1
                done
                """
            return [
                Command(
                    try Tool("xargs"),
                    ["-a", batch.localPictures, "-P", "\(batch.processes)", "-n", "50", "sh", "-c", script, "sh"])
            ]
        }
    }
}
