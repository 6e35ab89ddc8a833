import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage

extension ImageLoader {
    /// A loader of up to 20 downloads at a time, from one host as well.
    static func forMany(retries: Bool = false, clock: any Clock<Duration> = ContinuousClock()) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = 20
        configuration.downloads.maximumConcurrentDownloadsPerHost = 20
        configuration.downloads.maximumConnectionsPerHost = 20
        if retries { configuration.downloads.retry = ConstantBackoff() }
        return ImageLoader(configuration: configuration, clock: clock)
    }
}

/// Returns requests for the images with these numbers.
func manyRequests(_ range: Range<Int>, from origin: LoopbackOrigin) -> [ImageRequest] {
    range.map { ImageRequest(origin.url("/\($0).png"), maximumSide: 20) }
}

/// A consumer of results that waits until a test lets it continue.
final class ResultConsumer: Sendable {
    /// An error of a consumer.
    struct Failure: Error {}

    /// The URLs of the results so far.
    let started = Awaited<[String]>([])
    /// Whether results are consumed without waiting.
    let gate: Awaited<Bool>
    private let running = Awaited((now: 0, peak: 0, failures: 0))

    init(isOpen: Bool = false) { gate = Awaited(isOpen) }

    /// The maximum number of results at a time.
    var peak: Int { running.value.peak }
    /// The number of results that are errors.
    var failures: Int { running.value.failures }

    func consume(_ request: ImageRequest, _ result: Result<ImageResponse, any Error>) async {
        if case .failure = result { running.update { $0.failures += 1 } }
        await consume(request.url)
    }

    func consume(_ name: String) async {
        running.update {
            $0.now += 1
            $0.peak = max($0.peak, $0.now)
        }
        started.update { $0.append(name) }
        await gate.wait { $0 }
        running.update { $0.now -= 1 }
    }
}
