import ArgumentParser
import AsyncWebImage
import ResponseCache
import WebimageConsole

/// The options for the response cache of `webimage get` and `webimage batch`.
struct CacheOptions: ParsableArguments {
    @Option(
        name: .customLong("cache"),
        help: ArgumentHelp(
            "Cache responses in this folder, created if necessary, and reuse them according to HTTP.",
            valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Option(
        name: .customLong("cache-limit"),
        help: ArgumentHelp("The maximum size of the cache, in MiB. (default: 512)", valueName: "MiB"))
    var limit: Int?

    @Option(
        name: .customLong("cache-policy"),
        help: """
            The rule for using cached responses: protocol uses fresh ones and revalidates others, revalidate asks the server \
            even for fresh ones unless they are immutable, reload downloads and stores them again, cache-else-load uses stored \
            ones even if they are stale, and cache-only sends no requests. (default: protocol)
            """)
    var use: CachePolicyArgument?

    /// The number of files of the cache that are always open.
    var files: Int { folder == nil ? 0 : 1 }

    /// The number of files that an image opens in the cache.
    var filesPerImage: Int { folder == nil ? 0 : 2 }

    func validate() throws {
        guard use == nil || folder != nil else { throw ValidationError("--cache-policy requires --cache.") }
        guard limit == nil || folder != nil else { throw ValidationError("--cache-limit requires --cache.") }
        if let limit, !(1...1 << 30).contains(limit) {
            throw ValidationError("--cache-limit must be from 1 to 1073741824.")
        }
    }

    /// Opens the cache, if there is one, for a loader with this configuration.
    ///
    /// Throws ``FileError`` if its folder cannot be used.
    func apply(to configuration: inout ImageLoader.Configuration) throws {
        configuration.responseCache = try folder.map(open)
        // Otherwise, the command would end before a stale response has been updated, and print it again the next time.
        configuration.downloads.servesWhileRevalidating = false
        configuration.cachePolicy = use?.policy ?? .useProtocol
    }

    private func open(_ folder: String) throws -> ResponseCache {
        do {
            var configuration = ResponseCache.Configuration(directory: folder)
            if let limit { configuration.maximumBytes = limit << 20 }
            return try ResponseCache(configuration)
        } catch .unusableCacheFolder(let path, let reason) {
            throw FileError(description: "cannot use the folder \(path) as a cache: \(reason)")
        }
    }
}

/// The cache policies as command-line arguments.
enum CachePolicyArgument: String, ExpressibleByArgument, CaseIterable {
    case `protocol`
    case reload
    case revalidate
    case cacheElseLoad = "cache-else-load"
    case cacheOnly = "cache-only"

    var policy: CachePolicy {
        switch self {
        case .protocol: .useProtocol
        case .reload: .reload
        case .revalidate: .revalidate
        case .cacheElseLoad: .cacheElseLoad
        case .cacheOnly: .cacheOnly
        }
    }
}
