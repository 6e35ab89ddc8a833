import Testing

@testable import ResponseCache

/// The names of keys are read back unchanged, and other names are none.
struct ResponseStorageKeyTests {
    private static let resource = "0123456789abcdef0123456789abcdef"
    private static let selection = "fedcba9876543210"

    @Test(
        arguments: [
            (ResponseStorageKey(resource: resource), ""),
            (ResponseStorageKey(resource: resource, .part), ".part"),
            (ResponseStorageKey(resource: resource, selection: selection), "-" + selection),
            (ResponseStorageKey(resource: resource, selection: selection, .part), "-" + selection + ".part"),
        ])
    func aKeyIsReadFromItsName(key: ResponseStorageKey, suffix: String) {
        #expect(key.name == Self.resource + suffix)
        #expect(ResponseStorageKey(key.name) == key)
    }

    @Test(
        arguments: [
            "", "a", ".part", "-" + selection, resource + "-", resource + ".vary", resource + "-" + selection + ".vary",
            resource + "-" + selection + "-" + selection, resource + "-" + resource, resource + ".part.part",
            resource.uppercased(), "../" + resource, resource + "\u{301}", String(resource.dropLast()),
        ])
    func otherNamesAreNoKeys(name: String) {
        #expect(ResponseStorageKey(name) == nil)
    }
}
