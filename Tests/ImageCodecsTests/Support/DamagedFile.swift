import ImageCodecs
import ImageTestSupport

/// Decodes `file` 400 times, with one to eight bytes changed after its signature; returns how often the result is an
/// image.
func imageCount(ofDamaged file: [UInt8], options: DecodeOptions = DecodeOptions()) -> Int {
    var images = 0
    for seed in 0..<400 as Range<UInt64> {
        var random = SeededGenerator(seed: seed)
        var damaged = file
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            damaged[.random(in: 2..<file.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        var limits = DecodeLimits()
        limits.maximumPixels = 1 << 20
        do throws(CodecError) {
            _ = try decode(damaged, options: options, limits: limits) { 500 }
            images += 1
        } catch {}
    }
    return images
}
