import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing
import WebimageConsole

@testable import webimage

// Previews that cannot be written.
extension ImageFetcherTests {
    /// Gets an image whose first preview cannot be written, with the error `code`, before the whole image has arrived.
    private func getWithFailingPreview(_ code: Int32) async throws -> Outcome {
        let file = try #require(photograph).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let gate = Gate()
        return try await withLoopbackOrigin { (origin) async throws -> Outcome in
            origin.route("/photo", Response(body: file).held(at: .body(file.count / 2), until: gate))
            return try await withTemporaryFolder { (folder) async throws -> Outcome in
                let attempts = Tally()
                var calls = FileCalls()
                calls.write = { _, _ in
                    attempts.add()
                    return -code
                }
                let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
                let fetcher = ImageFetcher(
                    loader: ImageLoader(configuration: .init(), transport: meter), meter: meter,
                    output: ImageOutput(folder: try OutputFolder(path: folder)),
                    previews: try OutputFolder(path: folder + "/previews", calls: calls),
                    plan: OutputPlan(format: nil, options: DecodeOptions(), quality: 85), workers: ThreadPool(count: 1))
                async let outcome = fetcher.get(ImageSource(argument: origin.url("/photo")))
                await attempts.reaches(1)
                gate.open()
                return try await outcome
            }
        }
    }

    @Test func previewThatCannotBeWrittenDoesNotAffectItsImage() async throws {
        let outcome = try await getWithFailingPreview(EFBIG)
        #expect(outcome.error == nil && outcome.path?.hasSuffix("/photo.jpg") == true)
        #expect(outcome.previewError?.hasSuffix("/previews/photo-01.png: File too large") == true, "\(outcome)")
        #expect(outcome.json.contains(#""status":"ok","#))
    }

    /// The image is on disk: without a result, a run that is started again would write it twice.
    @Test func fullDiskOfPreviewsEndsTheRunAfterTheResult() async throws {
        let outcome = try await getWithFailingPreview(ENOSPC)
        #expect(outcome.error == nil && outcome.path?.hasSuffix("/photo.jpg") == true)
        #expect(outcome.runEnd?.endsRun == true)
    }
}
