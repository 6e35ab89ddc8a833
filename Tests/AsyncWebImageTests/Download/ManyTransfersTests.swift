import AsyncWebImage
import HTTPTransport
import Testing

/// Transfers that start, proceed, and end independently of each other.
@Suite(.timeLimit(.minutes(1)))
struct ManyTransfersTests {
    /// A transport that fails before `start` returns.
    private struct FailingTransport: Transport {
        private final class Nothing: Transfer {
            func cancel() {}
            func resume() {}
        }

        func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
            receiver.finish(.failed(TransportError(url: request.url.string, reason: .tooManyOpenFiles)))
            return Nothing()
        }
    }

    private func loader(_ transport: any Transport, slots: Int) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        configuration.downloads.maximumConcurrentDownloadsPerHost = slots
        configuration.downloads.maximumConnectionsPerHost = slots
        return ImageLoader(configuration: configuration, transport: transport)
    }

    @Test func transferThatCannotStartIsAnErrorAndLeavesItsSlotToTheNext() async throws {
        let loader = loader(FailingTransport(), slots: 1)
        let tasks = (0..<20).map { loader.dataTask(for: ImageRequest("http://host/\($0)")) }
        for task in tasks {
            let error = await #expect(throws: ImageError.self) { try await task.value }
            guard case .transport(let cause)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(cause.reason == .tooManyOpenFiles)
        }
        await loader.coordinator.becomesIdle()
    }

    /// If each piece, or each end, made the loader look at all downloads, there would be billions of steps.
    @Test func piecesOfTwentyThousandRunningDownloadsReachTheirOwn() async throws {
        let (count, pieces) = (20_000, [UInt8](0..<10))
        let transport = ScriptedTransport()
        let loader = loader(transport, slots: count)
        let tasks = (0..<count).map { loader.dataTask(for: ImageRequest("http://host/\($0)")) }
        var exchanges: [ScriptedTransport.Exchange] = []
        for await exchange in transport.exchanges {
            exchanges.append(exchange)
            if exchanges.count == count { break }
        }
        for exchange in exchanges { exchange.answer() }
        var isTaken = true
        for piece in pieces {
            for exchange in exchanges { isTaken = exchange.offer([piece]) && isTaken }
        }
        #expect(isTaken)
        for exchange in exchanges { exchange.finish() }
        for task in tasks {
            guard try await task.value.bytes != pieces else { continue }
            Issue.record("a body has other pieces")
            break
        }
        await loader.coordinator.becomesIdle()
    }
}
