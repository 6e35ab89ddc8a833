import Testing

@testable import HTTPTransport

struct CredentialStoreTests {
    @Test func forgottenCredentialsAreRemoved() throws {
        var store = CredentialStore()
        let url = try HTTPURL("https://example.com/")
        let key = CredentialStore.Key(origin: url.origin, realm: "r")
        store.remember(.bearer("a"), for: key)
        #expect(store.credential(for: url) == .bearer("a"))
        store.forget(.bearer("another"), for: key)
        #expect(store.credential(for: url) == .bearer("a") && store.latest.count == 1)
        store.forget(.bearer("a"), for: key)
        #expect(store.credential(for: url) == nil && store.latest.isEmpty)
    }
}
