import Testing

@testable import HTTPTransport

struct CurlExchangeTests {
    private final class Worker: TransferWorker {
        func send(_ command: TransferCommand) {}
    }

    /// Otherwise, libcurl could send a secret to another server.
    @Test(
        arguments: [
            (true, nil, true), (true, "http://proxy:3128", true), (true, "http://me:secret@proxy:3128", false),
            (false, nil, false), (false, "http://proxy:3128", false),
        ] as [(Bool, String?, Bool)])
    func handleIsReusedOnlyIfItHasOpenedAConnectionWithoutSecrets(
        connectsOnly: Bool, proxy: String?, expected: Bool
    ) throws {
        let handle = TransferHandle(
            worker: Worker(), id: 1, request: TransportRequest(url: try HTTPURL("http://a.example/")),
            receiver: Recorder(), connectionKey: nil)
        let transfer = ActiveTransfer(handle, deadlines: DeadlineWatch(), shares: ThreadTimeShares())
        let easy = try CurlEasy(.init(proxy: .none))
        let exchange = CurlExchange(transfer, on: easy, connectsOnly: connectsOnly, proxy: proxy)
        #expect(exchange.leavesReusableHandle == expected)
    }
}
