import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct SourcePlaceTests {
    @Test func sourceWhoseBodyHasBegunKeepsItsPlaceForARetry() async throws {
        let url = "http://127.0.0.1/image.jpg"
        let retry = DownloadEvent(
            id: 1, url: try HTTPURL(url), time: .now, kind: .retrying(after: .zero, because: .shutDown))
        let places = ConversionPlaces(limit: 1)
        let place = SourcePlace(for: ImageSource(listed: url), in: places)
        _ = try await places.modify(TransportRequest(url: try HTTPURL(url)))
        places.note(retry)
        #expect(places.areFree && !place.isHeld)
        try await place.claim()
        places.note(retry)
        #expect(!places.areFree && place.isHeld)
        place.end()
        #expect(places.areFree)
    }

    @Test func laterSourceOfTheSameURLKeepsNoPlaceBeforeItsBody() async throws {
        let url = "http://127.0.0.1/image.jpg"
        let retry = DownloadEvent(
            id: 1, url: try HTTPURL(url), time: .now, kind: .retrying(after: .zero, because: .shutDown))
        let places = ConversionPlaces(limit: 1)
        let first = SourcePlace(for: ImageSource(listed: url), in: places)
        let second = SourcePlace(for: ImageSource(listed: url), in: places)
        defer { second.end() }
        _ = try await places.modify(TransportRequest(url: try HTTPURL(url)))
        try await first.claim()
        first.end()
        _ = try await places.modify(TransportRequest(url: try HTTPURL(url)))
        places.note(retry)
        #expect(places.areFree)
    }
}
