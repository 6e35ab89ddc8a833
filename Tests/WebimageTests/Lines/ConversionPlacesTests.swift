import HTTPTransport
import Testing
import Threading

@testable import AsyncWebImage
@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct ConversionPlacesTests {
    private let url = "http://127.0.0.1/image.jpg"

    @Test func freedConversionPlaceIsReportedAnyNumberOfTimes() async throws {
        let places = ConversionPlaces(limit: 1)
        let calls = Locked(0)
        places.whenFree { calls.withLock { $0 += 1 } }
        let request = TransportRequest(url: try HTTPURL(url))
        for _ in 0..<100_000 {
            let line = try #require(places.begin(url))
            _ = try await places.modify(request)
            places.end(line)
        }
        #expect(calls.withLock { $0 } == 100_000)
        #expect(places.areFree)
    }

    @Test func placesAreNotFreeWhileAllTransfersAreInUse() throws {
        let places = ConversionPlaces(limit: 10, transfers: 1)
        let calls = Locked(0)
        places.whenFree { calls.withLock { $0 += 1 } }
        let url = try HTTPURL(url)
        func note(_ kind: DownloadEvent.Kind) {
            places.note(DownloadEvent(id: 1, url: url, time: .now, kind: kind))
        }
        let completed = DownloadEvent.Kind.completed(.failure(CancellationError()))
        for end in [.retrying(after: .zero, because: .shutDown), completed] {
            note(.started(attempt: 1))
            #expect(!places.areFree)
            // A download starts over without an end.
            note(.started(attempt: 1))
            note(end)
            #expect(places.areFree)
        }
        note(completed)
        #expect(calls.withLock { $0 } == 2)
    }

    @Test func linesWithOneURLShareAConversionPlace() async throws {
        let places = ConversionPlaces(limit: 1)
        let lines = try (0..<2).map { _ in try #require(places.begin(url)) }
        let request = TransportRequest(url: try HTTPURL(url))
        _ = try await places.modify(request)
        _ = try await places.modify(request)
        #expect(!places.areFree)
        places.end(lines[0])
        #expect(!places.areFree)
        places.end(lines[1])
        #expect(places.areFree)
    }
}
