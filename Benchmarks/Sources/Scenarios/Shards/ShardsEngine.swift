/// The ways to convert a list of URLs to small JPEGs with their metadata.
enum ShardsEngine: String, CaseIterable, Sendable {
    /// Single files, without metadata: `webimage get`.
    case files = "get"
    case frames = "batch-frames"
    case shards = "batch-shards"
    /// Shards with the filter of img2dataset, which averages the pixels of a box.
    case shardsByBox = "batch-shards-box"
    case img2dataset16 = "img2dataset-16"
    case img2dataset64 = "img2dataset-64"
    case img2dataset256 = "img2dataset-256"

    /// A Boolean value that indicates whether the engine is another program.
    var isPeer: Bool { threads != nil }

    private var threads: Int? {
        switch self {
        case .files, .frames, .shards, .shardsByBox: nil
        case .img2dataset16: 16
        case .img2dataset64: 64
        case .img2dataset256: 256
        }
    }

    func command(for work: ShardsWork) throws -> Command {
        if let threads { return try img2dataset(threads, for: work) }
        let size = ["--max-pixel-size", "256", "--quality", "85", "--concurrency", "64", "--per-host", "64"]
        let batch = ["batch", "--input", work.list, "--summary", work.summary] + size
        switch self {
        case .files: return Command(try .webimage(), ["get", "--input", work.list, "--output", work.results] + size)
        case .frames: return Command(try .webimage(), batch + ["--output", "-"])
        default:
            let filter = self == .shardsByBox ? ["--filter", "box"] : []
            return Command(
                try .webimage(), batch + ["--output", work.results, "--samples-per-shard", "\(work.shard)"] + filter)
        }
    }

    private func img2dataset(_ threads: Int, for work: ShardsWork) throws -> Command {
        Command(
            try Tool("img2dataset", variable: "IMG2DATASET"),
            [
                "--url_list", work.list, "--output_folder", work.results, "--output_format", "webdataset",
                "--processes_count", "\(ShardsWork.processes)", "--thread_count", "\(threads)",
                "--number_sample_per_shard", "\(work.shard)", "--image_size", "256",
                "--resize_mode", "keep_ratio_largest", "--resize_only_if_bigger", "True",
                "--downscale_interpolation", "area", "--encode_quality", "85", "--compute_hash", "sha256",
            ])
    }
}
