import AsyncWebImage
import ImageEncoders

/// Writes previews of an image while it arrives, at increasing intervals and up to a limit.
struct PreviewWriter: Sendable {
    /// The maximum number of previews of one image.
    static let maximumCount = 16
    /// The maximum size of all previews of one image, in bytes.
    static let maximumBytes = 64 << 20
    /// The time between the first two previews; each further interval is 1.5 times the previous one.
    static let firstInterval = Duration.milliseconds(100)

    let folder: OutputFolder
    let loader: ImageLoader
    let workers: ThreadPool
    var clock: any Clock<Duration> = ContinuousClock()

    /// Writes previews until the image is complete, the limit is reached, or the task is canceled.
    func write(_ request: ImageRequest, named source: String) async throws {
        var number = 0
        var written = 0
        var interval = Self.firstInterval
        do {
            for try await frame in loader.previews(for: request) where !frame.isFinal {
                let bytes = try await encoded(frame.pixels)
                guard written + bytes.count <= Self.maximumBytes else { return }
                number += 1
                written += bytes.count
                let name = FileName.preview(number, source: source)
                _ = try await workers.run { [folder] in try folder.write(bytes, as: name) }
                if number == Self.maximumCount { return }
                try await clock.sleep(for: interval)
                interval = interval * 3 / 2
            }
        } catch is ImageError {
            // The task that loads the image reports this error.
        } catch is CancellationError {
            // It also reports a cancellation of the image; otherwise the image is complete.
        }
    }

    private func encoded(_ pixels: PixelBuffer) async throws -> [UInt8] {
        try await loader.decoder.withMemory(2 * pixels.bytes.count) {
            try await workers.run { try pixels.encoded(as: .png) }
        }
    }
}
