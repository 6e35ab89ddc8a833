import AsyncWebImage
import HTTPTransport
import Hashing

extension BatchCommand {
    /// The default of `--deadline`, in seconds: a host that hangs must not hold up a list.
    static let deadline = 60.0

    /// The configuration of the loader.
    ///
    /// No cache of decoded images: every image is needed once, and a long list must not fill the memory.
    func configuration(_ budget: OpenFileBudget) throws -> ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration(downloads: requests.downloads, maximumMemoryCacheBytes: 0)
        let memory = memoryLimits
        let isConverting = plan.isConverted || list.lineOptions
        configuration.decoding.memoryBudget = isConverting ? memory.allConversions : memory.allChecks
        configuration.decoding.maximumDecodeBytes = memory.image
        configuration.trimsUnderMemoryPressure = budget.observesMemoryPressure
        configuration.decoding.customFormats = CommandFormats.custom
        configuration.decoding.limits.maximumHeaderBytes = 8 << 20
        configuration.decoding.limits.maximumBytes = resources.maxBytes.bytes
        configuration.decoding.limits.maximumPixels = resources.maxPixels
        resources.work.apply(to: &configuration.decoding.limits)
        let sharers = resources.sharers ?? parts.sharers
        configuration.downloads.maximumReplayBytes = 1 << 20
        configuration.downloads.maximumResumableBytes = 8 << 20
        configuration.downloads.maximumBodyBytes = resources.maxBytes.bytes
        configuration.downloads.maximumConcurrentDownloads = budget.images
        resources.perHost.apply(to: &configuration.downloads, sharers: sharers)
        configuration.downloads.rateLimitPerHost = resources.rate.map {
            RateLimit(requestsPerSecond: $0 / Double(sharers))
        }
        configuration.downloads.deadlines.total = .seconds(requests.deadline ?? Self.deadline)
        configuration.downloads.responseValidator = rules.robotsTags
        try cache.apply(to: &configuration)
        // A --header replaces it.
        if let token = rules.userAgentToken, requests.header.allSatisfy({ $0.name != .userAgent }) {
            configuration.downloads.headerFields[.userAgent] = "\(token) \(RequestOptions.userAgent)"
        }
        return configuration
    }

    /// The configuration of the transport.
    func transport(_ budget: OpenFileBudget) -> CurlTransport.Configuration {
        var transport = network.transport
        transport.cookieFile = requests.cookieFile
        transport.keepIdleConnections(of: budget.images)
        transport.maximumConnections = budget.connections
        transport.resolver = ThreadedResolver(maximumLookups: resources.dnsConcurrency)
        return transport
    }

    /// The plan of lines without options.
    var plan: OutputPlan { LinePlans.plan(for: images) }

    /// The columns of the list, and the names that the output adds.
    var listColumns: ListColumns {
        var columns = list.columns
        columns.reserved = BatchRecord.memberNames.union(output.pixelHashes.map(\.rawValue))
        if output.echo { columns.reserved.formUnion(RecordStream.additionalNames) }
        return columns
    }

    /// The memory limits for images.
    var memoryLimits: MemoryLimits {
        var limits = MemoryLimits()
        limits.allConversions = resources.memory.bytes
        limits.allChecks = min(limits.allChecks, resources.memory.bytes)
        return limits
    }

    /// The form of the records on standard output.
    var streamForm: RecordStream.Form {
        switch output.stream {
        case .frames: .frames
        case .ndjson: .ndjson(hasPayload: output.payload != nil)
        case .tar: .tar(SampleKeys(samplesPerShard: output.samplesPerShard))
        }
    }

    /// The rules for the shards in a folder.
    func shardRules(firstShard: Int) throws -> ShardOutput.Rules {
        var plan = parts.plan(SampleKeys(samplesPerShard: output.samplesPerShard))
        plan.firstShard = firstShard
        return ShardOutput.Rules(
            plan: plan,
            conditions: OpenShard.Conditions(
                maximumRetryableRate: output.maxRetryableRate, minimumSuccessRate: output.minSuccessRate),
            command: output.postShard.map { ShardCommand(text: $0) }, overwrites: output.overwrite,
            retriesFailures: output.retryFailed,
            waits: parts.part != nil && !parts.claim,
            optionsDigest: optionsDigest)
    }

    /// The folder for shards, made for this run or an equal one.
    func shardFolder() throws -> ShardFolder {
        let folder = try ShardFolder(
            path: output.output, keys: SampleKeys(samplesPerShard: output.samplesPerShard),
            form: output.shardFormat, hasSidecar: output.sidecar == .jsonl, isSorted: !output.unsorted)
        try folder.describe(options)
        return folder
    }

    /// The options on which the images and records depend, as JSON.
    var options: JSONObject {
        var object = JSONObject()
        object.add("max_pixel_size", images.maxPixelSize)
        object.add("fit", images.fit?.size.description)
        object.add("fill", images.fill?.size.description)
        object.add("resize_mode", images.resize.rule?.mode.rawValue)
        object.add("image_size", images.resize.imageSize)
        object.add("resize_only_if_bigger", images.resize.resizeOnlyIfBigger)
        object.add("filter", images.filter?.rawValue)
        object.add("format", images.format?.rawValue)
        object.add("quality", images.quality)
        if let bytes = images.maxOutputBytes?.bytes { object.add("max_output_bytes", bytes) }
        object.add("first_frame", images.firstFrame)
        object.add("keep_profile", images.keepProfile)
        if images.keepGainMap { object.add("keep_gain_map", true) }
        let changes = images.changes.transformations.map(\.identifier)
        if !changes.isEmpty { object.add("transformations", changes.joined(separator: " ")) }
        if images.skipReencode { object.add("skip_reencode", true) }
        if images.strict { object.add("strict", true) }
        object.add("output_format", output.output == "-" ? output.stream.rawValue : output.shardFormat.rawValue)
        object.add("sidecar", output.sidecar.rawValue)
        if output.unsorted { object.add("unsorted", true) }
        object.add("samples_per_shard", output.samplesPerShard)
        object.add("compute_hash", output.computeHash.rawValue)
        if output.exif { object.add("exif", true) }
        for hash in output.pixelHashes { object.add("compute_\(hash.rawValue)", true) }
        object.add("verify_hash", list.verifyHash.map { "\($0.algorithm.rawValue)=\($0.column)" })
        object.add("url_col", list.urlCol)
        object.add("id_col", list.idCol)
        object.add("caption_col", list.captionCol)
        if list.lineOptions { object.add("line_options", true) }
        object.add("min_image_size", rules.minImageSize)
        object.add("max_image_area", rules.maxImageArea)
        object.add("max_aspect_ratio", rules.maxAspectRatio.map { "\($0)" })
        object.add("disallowed_header_directives", rules.robotsTags?.disallowed.sorted().joined(separator: ","))
        if rules.robotsText { object.add("robots_txt", rules.robotsToken) }
        object.add("max_bytes", resources.maxBytes.bytes)
        object.add("max_pixels", resources.maxPixels)
        object.add("max_work", resources.work.maxWork)
        if output.headerOnly { object.add("header_only", true) }
        // The shard of a line depends on them, unless a shard is a section of the list.
        if let hosts = parts.hosts {
            object.add("parts", hosts.count)
            object.add("spread_hosts", hosts.spread.sorted().joined(separator: ","))
        }
        return object
    }

    /// The SHA-256 of ``options``.
    var optionsDigest: String { SHA256.hash(options.bytes).hexadecimal }
}
