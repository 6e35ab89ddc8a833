import ImageTestSupport

/// Writes GIF files of red (0) and green (1) by hand, uncompressed: a clear code before every pixel.
struct TestGIF {
    /// One image of the file.
    struct Frame {
        var left = 0
        var top = 0
        var width: Int
        var height: Int
        var indices: [UInt8]
        var isInterlaced = false
        var transparentIndex: UInt8?
        var disposal: UInt8 = 0
        /// The delay in hundredths of a second.
        var delay = 0
    }

    var width: Int
    var height: Int
    var hasPalette = true
    /// The number of repetitions in the looping extension; `nil` omits the extension.
    var repetitions: Int?

    func file(_ frames: [Frame]) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + number(width) + number(height)
        bytes += [hasPalette ? 0x80 : 0, 0, 0]
        if hasPalette { bytes += [255, 0, 0, 0, 255, 0] }
        if let repetitions {
            bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + number(repetitions) + [0]
        }
        for frame in frames {
            if frame.transparentIndex != nil || frame.disposal > 0 || frame.delay > 0 {
                let flags = frame.disposal << 2 | (frame.transparentIndex == nil ? 0 : 1)
                bytes += [0x21, 0xF9, 4, flags] + number(frame.delay) + [frame.transparentIndex ?? 0, 0]
            }
            bytes.append(0x2C)
            bytes += number(frame.left) + number(frame.top) + number(frame.width) + number(frame.height)
            bytes += [frame.isInterlaced ? 0x40 : 0, 2]
            bytes += blocks(frame.indices)
        }
        return bytes + [0x3B]
    }

    /// Returns the indices as codes of three bits: 4 is the clear code, 5 the end code.
    func data(_ indices: [UInt8]) -> [UInt8] {
        var data: [UInt8] = []
        var (held, count) = (0, 0)
        for code in indices.flatMap({ [4, Int($0)] }) + [5] {
            held |= code << count
            count += 3
            while count >= 8 {
                data.append(UInt8(held & 255))
                held >>= 8
                count -= 8
            }
        }
        if count > 0 { data.append(UInt8(held)) }
        return data
    }

    private func blocks(_ indices: [UInt8]) -> [UInt8] {
        let data = data(indices)
        var blocks: [UInt8] = []
        for start in stride(from: 0, to: data.count, by: 255) {
            let block = data[start..<min(start + 255, data.count)]
            blocks += [UInt8(block.count)] + block
        }
        return blocks + [0]
    }

    private func number(_ value: Int) -> [UInt8] {
        [UInt8(value & 255), UInt8(value >> 8)]
    }
}
