public import ImageCodecs

extension PixelBuffer {
    /// Returns the image as a QOI file that uses every operation of the format.
    public func qoi() -> [UInt8] {
        var file = Array("qoif".utf8)
        for side in [width, height] { file += (0..<4).map { UInt8(truncatingIfNeeded: side >> (24 - $0 * 8)) } }
        file += [4, 0]
        var last: [UInt8] = [0, 0, 0, 255]
        var seen = [[UInt8]](repeating: [0, 0, 0, 0], count: 64)
        var run = 0
        func endRun() {
            if run > 0 { file.append(0xC0 | UInt8(run - 1)) }
            run = 0
        }
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            let pixel = Array(bytes[offset..<offset + 4])
            guard pixel != last else {
                run += 1
                if run == 62 { endRun() }
                continue
            }
            endRun()
            let place = QOIDecoder.place(pixel)
            if seen[place] == pixel {
                file.append(UInt8(place))
            } else if pixel[3] != last[3] {
                file += [0xFF] + pixel
            } else {
                file += Self.difference(pixel, last)
            }
            seen[place] = pixel
            last = pixel
        }
        endRun()
        return file + [0, 0, 0, 0, 0, 0, 0, 1]
    }

    /// Returns the shortest operation that changes `last` to `pixel`, which has the same alpha.
    private static func difference(_ pixel: [UInt8], _ last: [UInt8]) -> [UInt8] {
        let change = (0..<3).map { Int(Int8(bitPattern: pixel[$0] &- last[$0])) }
        let (green, red, blue) = (change[1], change[0] - change[1], change[2] - change[1])
        if change.allSatisfy((-2...1).contains) {
            return [0x40 | UInt8(change[0] + 2) << 4 | UInt8(change[1] + 2) << 2 | UInt8(change[2] + 2)]
        } else if (-32...31).contains(green), (-8...7).contains(red), (-8...7).contains(blue) {
            return [0x80 | UInt8(green + 32), UInt8(red + 8) << 4 | UInt8(blue + 8)]
        } else {
            return [0xFE] + pixel[..<3]
        }
    }
}
