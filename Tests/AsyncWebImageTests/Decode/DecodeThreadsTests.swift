import ImageCodecs
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct DecodeThreadsTests {
    /// Occupies its thread until it is stopped.
    private struct LongWork {
        private let stop = BlockingQueue<Void>()
        private let started = OneShot<Void>()
        private let task: Task<Void, Never>

        init(on executor: any TaskExecutor) {
            task = Task(executorPreference: executor) { [stop, started] in
                started.resolve(.success(()))
                _ = stop.next()
            }
        }

        func hasStarted() async throws { try await started.value }

        func end() async {
            stop.close()
            await task.value
        }
    }

    /// A long decode must not delay callers, transfers, or their bookkeeping.
    @Test func busyDecodeThreadsHoldUpNoDownload() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).held(at: .start, until: gate))
            origin.route("/b", .init(body: [1, 2, 3]))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.threadCount = 1
            let loader = ImageLoader(configuration: configuration)
            let first = LongWork(on: loader.decoder.threads)
            let other = LongWork(on: loader.decoder.threads)
            try await first.hasStarted()
            try await other.hasStarted()

            // The whole body is there, and its decode is the next to run; then the thread computes again.
            async let info = loader.info(for: ImageRequest(origin.url("/a.jpg")))
            async let data = loader.data(for: ImageRequest(origin.url("/a.jpg")))
            await loader.coordinator.callers(reach: 2)
            gate.open()
            _ = try await data
            let second = LongWork(on: loader.decoder.threads)
            await first.end()
            try await second.hasStarted()

            #expect(try await loader.data(for: ImageRequest(origin.url("/b"))).bytes == [1, 2, 3])
            await second.end()
            await other.end()
            #expect(try await info.header.format == .jpeg)
        }
    }

    /// A thumbnail is decoded in the meantime, regardless of the amount of long work.
    @Test func longDecodesLeaveOneThreadForShortOnes() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.threadCount = 2
            let loader = ImageLoader(configuration: configuration)
            let long = (0..<3).map { _ in LongWork(on: loader.decoder.threads.forLongWork()) }
            try await long[0].hasStarted()
            try await long[1].hasStarted()

            #expect(try await loader.image(for: ImageRequest(origin.url("/a.jpg"), maximumSide: 8)).pixels.width == 8)
            for work in long { await work.end() }
        }
    }

    /// A format of files that occupy their thread until they may go on.
    private struct SlowFormat: WholeFileFormat {
        static let file = Array("SLOW, and some bytes".utf8)

        let format = ImageFormat(name: "SLOW", mediaType: "image/x-slow", fileExtension: "slow")
        /// With `false`, the image is large.
        let takesLong: Bool
        let started = OneShot<Void>()
        let stop = BlockingQueue<Void>()

        private func wait() {
            started.resolve(.success(()))
            _ = stop.next()
        }

        func recognizes(_ beginning: Span<UInt8>) -> Bool { beginning.count > 0 && beginning[0] == UInt8(ascii: "S") }
        func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
            if takesLong { wait() }
            let side = takesLong ? 2 : 2_001
            return ImageHeader(format: format, size: PixelSize(width: side, height: side))
        }
        func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { 0 }
        func decode(
            _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
        ) throws(CodecError) {
            if !takesLong { wait() }
            let row = [UInt8](repeating: 0, count: rowSize.width * 4)
            for _ in 0..<rowSize.height { try rows.append(row.span) }
        }
    }

    /// They cannot suspend.
    @Test(arguments: [true, false])
    func wholeFilesLeaveOneThreadForShortDecodes(takesLong: Bool) async throws {
        let format = SlowFormat(takesLong: takesLong)
        let decoder = ImageDecoder(configuration: .init(threadCount: 1, customFormats: [format]))
        let slow = (0..<2).map { _ in Task { try await decoder.image(from: SlowFormat.file).pixels.width } }
        try await format.started.value
        let file = try Samples.file(.jpeg)
        // The second one has long begun, if it can.
        for _ in 0..<20 { _ = try await decoder.image(from: file, options: DecodeOptions(target: .maximumSide(8))) }
        format.stop.close()
        for task in slow { #expect(try await task.value == (takesLong ? 2 : 2_001)) }
    }

    @Test func cooperativePoolDoesTheWorkUntilAThreadCanBeStarted() async {
        let threads = DecodeThreads(count: 1, startThread: limitedThreads(named: "test-decode") { $0 > 3 })
        #expect(await threadName(of: threads) != "test-decode")
        #expect(await threadName(of: threads.forLongWork()) != "test-decode")
        #expect(await threadName(of: threads) != "test-decode")
        #expect(await threadName(of: threads) == "test-decode")
        #expect(await threadName(of: threads.forLongWork()) == "test-decode")
    }
}

/// Returns the name of the thread on which an executor performs work.
private func threadName(of executor: any TaskExecutor) async -> String {
    await Task(executorPreference: executor) { ProcessState.threadName }.value
}
