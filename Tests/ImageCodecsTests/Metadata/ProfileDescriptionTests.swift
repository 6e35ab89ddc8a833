import Testing

@testable import ImageCodecs

@Suite
struct ProfileDescriptionTests {
    @Test
    func asciiDescriptionsAreRead() {
        let tag = Array("desc".utf8) + [0, 0, 0, 0, 0, 0, 0, 5] + Array("sRGB".utf8) + [0]
        #expect(name(profile(tag)) == "sRGB")
    }

    @Test
    func unicodeDescriptionsAreRead() {
        let tag =
            Array("mluc".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 12] + Array("deDE".utf8)
            + [0, 0, 0, 6, 0, 0, 0, 28, 0, 0x46, 0, 0xFC, 0, 0x72]
        #expect(name(profile(tag)) == "Für")
    }

    @Test
    func descriptionsThatCannotBePrintedAreUnnamed() {
        let tag = Array("desc".utf8) + [0, 0, 0, 0, 0, 0, 0, 5, 0x1B, 0x5B, 0x41, 0x42, 0]
        #expect(name(profile(tag)) == "unnamed")
        #expect(name([]) == "unnamed")
    }

    @Test
    func damagedProfileDescriptionIsUnnamedOrAName() {
        let tag = Array("desc".utf8) + [0, 0, 0, 0, 0, 0, 0, 5] + Array("sRGB".utf8) + [0]
        let whole = profile(tag)
        for length in whole.indices {
            let name = name(Array(whole.prefix(length)))
            #expect(["unnamed", "sRGB"].contains(name))
        }
        for offset in 128..<whole.count {
            var damaged = whole
            damaged[offset] = 0xFF
            #expect(!name(damaged).isEmpty)
        }
    }

    private func name(_ profile: [UInt8]) -> String {
        ProfileDescription.read(profile.span)
    }

    private func profile(_ tag: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: 128) + [0, 0, 0, 1] + Array("desc".utf8)
            + [0, 0, 0, 144, 0, 0, 0, UInt8(tag.count)] + tag
    }
}
