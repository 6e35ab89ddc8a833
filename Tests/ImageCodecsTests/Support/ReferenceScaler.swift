import Foundation

@testable import ImageCodecs

/// Textbook resampling filters in double precision, applied to the whole image one sample at a time.
struct ReferenceScaler {
    var resampling = Resampling()

    /// Returns the RGBA bytes of `image`, or of its part `region`, scaled to `size`.
    func scale(_ image: PixelBuffer, region: PixelRegion? = nil, to size: PixelSize) -> [UInt8] {
        let scaled = scale(image.bytes.map { Double($0) }, of: image.size, most: 255, region: region, to: size)
        return scaled.enumerated().map { index, value in
            scaled[index / 4 * 4 + 3] < 0.5 ? 0 : UInt8(max(0, min(255, value.rounded())))
        }
    }

    /// Returns unrounded samples from 0 to `most`, RGBA with straight alpha, scaled from an image of `sourceSize`;
    /// pixels whose alpha rounds to zero are zero.
    func scale(
        _ samples: [Double], of sourceSize: PixelSize, most: Double, region: PixelRegion? = nil, to size: PixelSize
    ) -> [Double] {
        let region = region ?? PixelRegion(whole: sourceSize)
        var planes = samples.enumerated().map { index, sample in
            index % 4 < 3 && resampling.usesLinearLight ? Self.light(of: sample / most) : sample
        }
        for pixel in stride(from: 0, to: planes.count, by: 4) {
            for channel in pixel..<pixel + 3 { planes[channel] *= planes[pixel + 3] / most }
        }
        let narrow = filter(
            planes, count: sourceSize.width, part: (region.left, region.width), to: size.width,
            lines: sourceSize.height, isHorizontal: true)
        let small = filter(
            narrow, count: sourceSize.height, part: (region.top, region.height), to: size.height, lines: size.width,
            isHorizontal: false)
        var result = [Double](repeating: 0, count: size.area * 4)
        for pixel in stride(from: 0, to: result.count, by: 4) {
            let alpha = small[pixel + 3]
            guard alpha >= 0.5 else { continue }
            result[pixel + 3] = min(most, alpha)
            for channel in pixel..<pixel + 3 {
                let value = small[channel] * most / min(alpha, most)
                result[channel] = resampling.usesLinearLight ? Self.value(of: value) * most : value
            }
        }
        return result
    }

    private func filter(
        _ values: [Double], count: Int, part: (start: Double, length: Double), to target: Int, lines: Int,
        isHorizontal: Bool
    ) -> [Double] {
        let ratio = part.length / Double(target)
        let step = isHorizontal ? 4 : lines * 4
        let lineStep = isHorizontal ? count * 4 : 4
        var result = [Double](repeating: 0, count: target * lines * 4)
        for sample in 0..<target {
            let center = part.start + (Double(sample) + 0.5) * ratio
            let reach = 3 * max(ratio, 1) + 1
            let taps = Int((center - reach).rounded(.down))...Int((center + reach).rounded(.up))
            let weights = taps.map { weight(of: Double($0), center: center, ratio: ratio) }
            let sum = weights.reduce(0, +)
            for (tap, weight) in zip(taps, weights) where weight != 0 {
                for line in 0..<lines {
                    let to = isHorizontal ? (line * target + sample) * 4 : (sample * lines + line) * 4
                    let from = line * lineStep + min(max(tap, 0), count - 1) * step
                    for channel in 0..<4 { result[to + channel] += values[from + channel] * weight / sum }
                }
            }
        }
        return result
    }

    /// Returns the weight of the sample that extends from `left` to `left + 1`.
    private func weight(of left: Double, center: Double, ratio: Double) -> Double {
        let x = abs(left + 0.5 - center) / max(ratio, 1)
        switch resampling.filter {
        case .lanczos3: return x == 0 ? 1 : x >= 3 ? 0 : Self.sinc(x) * Self.sinc(x / 3)
        case .mitchell:
            if x < 1 { return (7 * x * x * x - 12 * x * x + 16.0 / 3) / 6 }
            return x >= 2 ? 0 : (-7.0 / 3 * x * x * x + 12 * x * x - 20 * x + 32.0 / 3) / 6
        case .catmullRom:
            if x < 1 { return 1.5 * x * x * x - 2.5 * x * x + 1 }
            return x >= 2 ? 0 : -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2
        case .triangle: return max(0, 1 - x)
        case .box: return max(0, min(left + 1, center + ratio / 2) - max(left, center - ratio / 2))
        }
    }

    private static func sinc(_ x: Double) -> Double { sin(.pi * x) / (.pi * x) }

    private static func light(of value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func value(of light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
