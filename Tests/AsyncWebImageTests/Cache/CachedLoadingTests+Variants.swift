import Foundation
import HTTPSemantics
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

// The requests that a stored response is for.
extension CachedLoadingTests {
    @Test func authorizationAndVaryFieldsSelectTheStoredResponse() async throws {
        try await withCache { origin, cache in
            origin.route("/a") { request in
                let who = request.headerFields["Authorization"] ?? request.headerFields["Accept"] ?? ""
                return .init(headerFields: ["Cache-Control": "max-age=60", "Vary": "Accept"], body: Array(who.utf8))
            }
            let loader = loader(cache)
            func answer(_ fields: HTTPFields) async throws -> (String, ResponseSource) {
                let data = try await load(loader, ImageRequest(origin.url("/a"), headerFields: fields))
                return (String(decoding: data.bytes, as: UTF8.self), data.source)
            }
            let fields: [(HTTPFields, String)] = [
                ([.authorization: "Bearer a"], "Bearer a"), ([.authorization: "Bearer b"], "Bearer b"),
                ([.accept: "image/png"], "image/png"), ([.accept: "image/gif"], "image/gif"),
            ]
            for source in [ResponseSource.network, .disk] {
                for (fields, text) in fields {
                    let (found, foundSource) = try await answer(fields)
                    #expect(found == text && foundSource == source)
                }
            }
        }
    }

    /// Requests with each kind of credential, two of each.
    private func owners(_ url: String) -> [ImageRequest] {
        let credentials: [Credential] = [
            .basic(user: "ann", password: "one"), .basic(user: "ann", password: "two"),
            .basic(user: "bob", password: "one"), .bearer("one"), .bearer("two"),
        ]
        let address = url.dropFirst("http://".count)
        return credentials.map { ImageRequest(url, credential: $0) }
            + ["id=1", "id=2"].map { ImageRequest(url, headerFields: [.cookie: $0]) }
            + ["eve:one", "eve:two", "joe:one"].map { ImageRequest("http://\($0)@\(address)") }
            + [ImageRequest(url)]
    }

    @Test(arguments: [true, false])
    func storedResponseIsServedOnlyToItsCredentialOrCookie(onDisk: Bool) async throws {
        try await withCache(onDisk: onDisk) { origin, cache in
            origin.route("/a") { request in
                let who = (request.headerFields["Authorization"] ?? "-") + (request.headerFields["Cookie"] ?? "-")
                return .init(headerFields: ["Cache-Control": "max-age=60"], body: Array(who.utf8))
            }
            let loader = loader(cache)
            let owners = owners(origin.url("/a"))
            var answers: [[UInt8]] = []
            for owner in owners {
                let data = try await load(loader, owner)
                #expect(data.source == .network)
                answers.append(data.bytes)
            }
            #expect(Set(answers).count == owners.count)
            for (owner, answer) in zip(owners, answers) {
                let data = try await load(loader, owner)
                #expect(data.source == cache.source && data.bytes == answer)
            }
        }
    }

    @Test func allVaryFieldLinesSelectTheStoredResponse() async throws {
        try await withCache { origin, cache in
            origin.route("/a") { request in
                let text = (request.headerFields["Accept"] ?? "") + (request.headerFields["Accept-Language"] ?? "")
                return .init(
                    headerFields: ["Cache-Control": "max-age=60", "Vary": "Accept", "Vary": "Accept-Language"],
                    body: Array(text.utf8))
            }
            let loader = loader(cache)
            for language in ["en", "de"] {
                let fields: HTTPFields = [.accept: "image/png", .acceptLanguage: language]
                let data = try await load(loader, ImageRequest(origin.url("/a"), headerFields: fields))
                #expect(data.bytes == Array("image/png\(language)".utf8))
            }
        }
    }
}
