import HTTPTransport
import Testing

struct AddressRangeTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("10.1.2.3/8", "10.0.0.0", "9.255.255.255"),
        ("172.16.0.0/12", "172.31.255.255", "172.32.0.0"), ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
        ("0.0.0.0/0", "255.255.255.255", "::"), ("::/0", "ffff::", "1.2.3.4"), ("fe80::/10", "febf::1", "fec0::"),
        ("::1", "::1", "::2"), ("2001:db8::/127", "2001:db8::1", "2001:db8::2"),
        ("::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.0"), ("10.0.0.0/8", "::ffff:10.0.0.1", "::10.0.0.1"),
    ])
    func addressRangeContainsAddressesWithItsPrefix(range: String, inside: String, outside: String) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(IPAddress(inside))))
        #expect(!range.contains(try #require(IPAddress(outside))))
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0/8", "::/129",
        "::ffff:10.0.0.0/95", "10.0.0.0/0008", "example.org/8", "10.0.0.0 /8",
    ])
    func invalidAddressRangesAreRejected(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test func addressRangeDescriptionHasItsPrefixLength() {
        #expect(AddressRange("10.1.2.3/8").description == "10.0.0.0/8")
        #expect(AddressRange("2001:db8::1/32").description == "2001:db8::/32")
        #expect(AddressRange("192.0.2.1").description == "192.0.2.1/32")
    }
}
