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

    private func request(_ name: String) throws -> TransportRequest {
        TransportRequest(url: try HTTPURL("http://127.0.0.1/\(name)"))
    }

    private func begin(_ name: String, _ line: Int, in places: ConversionPlaces) throws -> String {
        try #require(places.begin("http://127.0.0.1/\(name)", line: line))
    }

    /// Returns the deferral of a request that waits for a place.
    private func deferral(of request: TransportRequest, in places: ConversionPlaces) async -> RequestDeferral? {
        let deferring = Task {
            while !Task.isCancelled {
                places.deferWaiting()
                await Task.yield()
            }
        }
        defer { deferring.cancel() }
        return await #expect(throws: RequestDeferral.self) { try await places.modify(request) }
    }

    @Test func requestIsDeferredUntilThereIsAConversionPlace() async throws {
        let places = ConversionPlaces(limit: 1)
        let (first, second) = (try begin("a", 0, in: places), try begin("b", 1, in: places))
        _ = try await places.modify(try request("a"))
        let deferral = await deferral(of: try request("b"), in: places)
        places.end(first)
        await deferral?.wait()
        // The request may have to wait for the rate of its host before it is sent.
        #expect(places.areFree && !places.isHeld(second))
        _ = try await places.modify(try request("b"))
        #expect(places.isHeld(second))
        places.end(second)
        #expect(places.areFree)
    }

    @Test func canceledLineReturnsTheConversionPlaceThatItWaitedFor() async throws {
        let places = ConversionPlaces(limit: 1)
        let (first, second) = (try begin("a", 0, in: places), try begin("b", 1, in: places))
        _ = try await places.modify(try request("a"))
        let deferral = await deferral(of: try request("b"), in: places)
        places.end(second)
        places.end(first)
        await deferral?.wait()
        #expect(places.areFree)
    }

    @Test func lineWhoseBodyHasBegunKeepsItsConversionPlaceForARetry() async throws {
        let places = ConversionPlaces(limit: 1)
        let retry = DownloadEvent(
            id: 1, url: try HTTPURL(url), time: .now, kind: .retrying(after: .zero, because: .shutDown))
        let line = try #require(places.begin(url))
        _ = try await places.modify(TransportRequest(url: try HTTPURL(url)))
        places.note(retry)
        #expect(places.areFree && !places.isHeld(line))
        await places.keep(line)
        places.note(retry)
        #expect(!places.areFree && places.isHeld(line))
        places.end(line)
        #expect(places.areFree)
    }

    @Test func lineAndItsRequestWaitForOneConversionPlace() async throws {
        let places = ConversionPlaces(limit: 1)
        let (first, second) = (try begin("a", 0, in: places), try begin("b", 1, in: places))
        _ = try await places.modify(try request("a"))
        let deferral = await deferral(of: try request("b"), in: places)
        let lines = (0..<2).map { _ in Task { await places.keep(second) } }
        let requests = (0..<2).map { _ in Task { if let deferral { await deferral.wait() } } }
        places.end(first)
        for waiting in lines + requests { await waiting.value }
        #expect(places.isHeld(second))
        places.end(second)
        #expect(places.areFree)
    }

    @Test func requestIsNotDeferredIfAPlaceIsSoonFree() async throws {
        let places = ConversionPlaces(limit: 1)
        let (first, second) = (try begin("a", 0, in: places), try begin("b", 1, in: places))
        _ = try await places.modify(try request("a"))
        let waiting = Task { try await places.modify(try request("b")) }
        await Task.yield()
        places.deferWaiting()
        places.end(first)
        _ = try await waiting.value
        #expect(places.isHeld(second))
    }

    /// Later lines, which have all places, wait for the next one.
    @Test func nextLineInOrderGetsAConversionPlaceInAnyCase() async throws {
        let places = ConversionPlaces(limit: 1, isOrdered: true)
        let later = try begin("c", 2, in: places)
        _ = try await places.modify(try request("c"))
        let second = try begin("b", 1, in: places)
        let deferral = await deferral(of: try request("b"), in: places)

        let first = try begin("a", 0, in: places)
        _ = try await places.modify(try request("a"))
        places.end(first, line: 0)
        places.deliver(before: 1)
        await deferral?.wait()
        _ = try await places.modify(try request("b"))
        #expect(places.isHeld(second))
        places.end(second, line: 1)
        #expect(!places.areFree)
        places.end(later, line: 2)
        #expect(places.areFree)
    }
}
