import AsyncWebImage
import Digests
import Hashing

extension BatchCommand {
    /// The configuration of the loader.
    ///
    /// No cache of decoded images: every image is needed once, and a long list must not fill the memory.
    func configuration(_ budget: OpenFileBudget) -> ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration(downloads: requests.downloads, maximumMemoryCacheBytes: 0)
        let memory = memoryLimits
        if case .converted = images.plan.way {
            configuration.decoding.memoryBudget = memory.allConversions
            configuration.decoding.maximumDecodeBytes = memory.conversion
        } else {
            configuration.decoding.memoryBudget = memory.allChecks
        }
        configuration.decoding.limits.maximumHeaderBytes = 8 << 20
        configuration.decoding.limits.maximumBytes = resources.maxBytes.bytes
        configuration.decoding.limits.maximumPixels = resources.maxPixels
        let sharers = resources.sharers ?? 1
        configuration.downloads.maximumReplayBytes = 1 << 20
        configuration.downloads.maximumResumableBytes = 8 << 20
        configuration.downloads.maximumBodyBytes = resources.maxBytes.bytes
        configuration.downloads.maximumConcurrentDownloads = budget.images
        configuration.downloads.maximumConcurrentDownloadsPerHost = max(
            1, min(resources.perHost / sharers, budget.images))
        configuration.downloads.rateLimitPerHost = resources.rate.map {
            RateLimit(requestsPerSecond: $0 / Double(sharers))
        }
        configuration.downloads.deadlines.total = .seconds(resources.deadline)
        configuration.downloads.responseValidator = rules.robotsTags
        // A --header replaces it.
        if requests.header.allSatisfy({ $0.name != .userAgent }) {
            configuration.downloads.headerFields[.userAgent] = rules.userAgent
        }
        return configuration
    }

    /// The configuration of the transport.
    func transport(_ budget: OpenFileBudget) -> CurlTransport.Configuration {
        var transport = network.transport
        transport.maximumIdleConnections = max(transport.maximumIdleConnections, budget.images)
        transport.maximumConnections = budget.connections
        return transport
    }

    /// The memory limits for images.
    var memoryLimits: MemoryLimits {
        var limits = MemoryLimits()
        limits.allConversions = resources.memory.bytes
        limits.allChecks = max(limits.check, min(limits.allChecks, resources.memory.bytes))
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

    /// The options on which the images and records depend, as JSON.
    var options: JSONObject {
        let plan = images.plan
        var object = JSONObject()
        object.add("way", "\(plan.way)")
        object.add("options", "\(plan.options)")
        object.add("quality", plan.quality)
        object.add("first_frame", images.firstFrame)
        object.add("samples_per_shard", output.samplesPerShard)
        object.add("compute_hash", output.computeHash.rawValue)
        object.add("verify_hash", list.verifyHash.map { "\($0.algorithm.rawValue)=\($0.column)" })
        object.add("columns", "\(list.urlCol) \(list.idCol) \(list.captionCol ?? "")")
        object.add("filter", "\(rules.filter)")
        object.add("disallowed_header_directives", rules.robotsTags?.disallowed.sorted().joined(separator: ","))
        object.add("max_bytes", resources.maxBytes.bytes)
        object.add("max_pixels", resources.maxPixels)
        return object
    }

    /// The SHA-256 of ``options``.
    func optionsDigest() throws -> String {
        var digest = try MessageDigest(.sha256)
        digest.update(options.bytes)
        return try digest.finish().hexadecimal
    }
}
