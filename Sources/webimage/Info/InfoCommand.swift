import WebimageConsole
import ArgumentParser
import AsyncWebImage
import ImageCodecs

/// The command `webimage info`.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Print the properties of images, read from their headers.",
        usage: "webimage info [<options>] <sources> ...",
        discussion: """
            For JPEG, and for PNG and WebP without animation, only the part that contains the header is downloaded. GIF files \
            and animations are downloaded completely to determine the number of frames, their duration, and the number of \
            repetitions. Pixels are not decoded, except those of a GIF with a single frame. \
            The orientation is the one that a conversion applies. In a WebP it follows the pixels, and in a PNG it can; there it \
            is found in files only. Of a URL, the orientation of such a WebP is unknown, or null with --json; that of a PNG is \
            1, because nothing announces another. The member warnings is null if only \
            the header was read, because deviations from the format follow it.

            The exit status is 0 only if every header could be read.

            EXAMPLES
              webimage info https://example.com/photo.jpg
              webimage info --json *.png
              webimage info - < photo.jpg
            """)

    @Argument(help: "The images: http, https, and file URLs, paths of files, or - for standard input.")
    var sources: [String]

    @Flag(help: "Write one line of JSON per image instead of text.")
    var json = false

    @OptionGroup var requests: RequestOptions

    @OptionGroup var network: NetworkOptions

    func validate() throws {
        guard sources.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input, -, can be read only once.")
        }
    }

    func run() async throws {
        let sources = sources.map { ImageSource(argument: $0) }
        let (json, handlesCookies) = (json, requests.cookies != nil)
        let loader = sources.contains(where: \.isURL) ? try makeLoader() : nil
        let failures = try await Interruption.cancelling {
            let workers = ThreadPool(count: 1)
            var failures = 0
            for source in sources {
                let description = try await Self.describe(source, loader, workers, handlesCookies: handlesCookies)
                if description.failure != nil { failures += 1 }
                let text = json ? description.json : description.line
                if json || description.failure == nil {
                    try Terminal.output.write(text + "\n")
                } else {
                    Terminal.error.tell(text + "\n")
                }
            }
            return failures
        }
        if failures > 0 { throw ExitCode.failure }
    }

    private func makeLoader() throws -> ImageLoader {
        let budget = try OpenFileBudget.reserve(OpenFileBudget.Needs(images: 1))
        var transport = network.transport
        transport.cookieFile = requests.cookieFile
        transport.maximumConnections = budget.connections
        var configuration = ImageLoader.Configuration(downloads: requests.downloads, transport: transport)
        configuration.trimsUnderMemoryPressure = budget.observesMemoryPressure
        configuration.decoding.customFormats = CommandFormats.custom
        return ImageLoader(configuration: configuration)
    }

    /// `loader` is needed for remote sources only.
    private static func describe(
        _ source: ImageSource, _ loader: ImageLoader?, _ workers: ThreadPool, handlesCookies: Bool
    ) async throws -> ImageDescription {
        var description = ImageDescription(url: source.text)
        do {
            switch source.location {
            case .url(let url):
                guard let loader else { return description }
                let info = try await loader.info(
                    for: ImageRequest(url, handlesCookies: handlesCookies), readsAnimation: true)
                description.header = info.header
                description.bytesRead = info.byteCount
                if let animation = info.animation { description.describe(animation) }
            case .file, .standardInput, .invalid:
                let pieces = try source.localPieces(limit: DecodeLimits().maximumBytes)
                try await withTaskExecutorPreference(workers) { try await description.read(pieces) }
            }
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            description.failure = ImageFailure(error)
        }
        return description
    }
}
