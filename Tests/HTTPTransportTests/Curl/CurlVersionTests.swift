import Testing

@testable import HTTPTransport

struct CurlVersionTests {
    @Test func libcurlVersionsAreOrderedByTheirNumbers() {
        let releases = [CurlVersion(7, 85, 0), CurlVersion(7, 88, 1), CurlVersion(8, 0, 1), CurlVersion(8, 10, 0)]
        #expect(releases == releases.reversed().sorted())
    }

    @Test(arguments: [(7, 85, 0), (7, 88, 1), (8, 0, 1), (8, 1, 0), (8, 1, 1)] as [(UInt32, UInt32, UInt32)])
    func handlesOfOldLibcurlReleasesAreNotReused(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        #expect(!CurlVersion(major, minor, patch).mayReuseHandles)
    }

    @Test(arguments: [(8, 1, 2), (8, 2, 0), (8, 14, 1), (9, 0, 0)] as [(UInt32, UInt32, UInt32)])
    func handlesOfNewLibcurlReleasesAreReused(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        #expect(CurlVersion(major, minor, patch).mayReuseHandles)
    }

    @Test func loadedLibcurlReleaseIsSupported() {
        #expect(CurlVersion.loaded >= CurlVersion(7, 88, 0))
    }
}
