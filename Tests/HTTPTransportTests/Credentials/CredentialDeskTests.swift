import Testing

@testable import HTTPTransport

struct CredentialDeskTests {
    @Test func forgottenCredentialsAreNotKept() throws {
        var desk = CredentialDesk()
        let url = try HTTPURL("https://example.com/")
        let key = CredentialDesk.Key(origin: CredentialDesk.origin(of: url), realm: "r")
        desk.remember(.bearer("a"), for: key)
        #expect(desk.credential(for: url) == .bearer("a"))
        desk.forget(.bearer("another"), for: key)
        #expect(desk.credential(for: url) == .bearer("a") && desk.latest.count == 1)
        desk.forget(.bearer("a"), for: key)
        #expect(desk.credential(for: url) == nil && desk.latest.isEmpty)
    }
}
