/// Draws pictures with characters: each shows two pixels, one above the other, as `▀` in two colors.
enum HalfBlocks {
    /// Returns `rows` strings of `columns` characters, from RGBA bytes of `width * height` pixels averaged to that
    /// size.
    static func lines(rgba: [UInt8], width: Int, height: Int, columns: Int, rows: Int) -> [String] {
        guard width > 0, height > 0, columns > 0, rgba.count == width * height * 4 else { return [] }
        let pixels = shrink(rgba, width, height, columns: columns, rows: rows * 2)
        return (0..<rows).map { row in
            var line = ""
            var current: (SIMD3<Int>, SIMD3<Int>)?
            for column in 0..<columns {
                let (upper, lower) = (pixels[row * 2 * columns + column], pixels[(row * 2 + 1) * columns + column])
                if current == nil || current ?? (upper, lower) != (upper, lower) {
                    line += "\u{1B}[38;2;\(upper.x);\(upper.y);\(upper.z);48;2;\(lower.x);\(lower.y);\(lower.z)m"
                    current = (upper, lower)
                }
                line += "▀"
            }
            return line + "\u{1B}[0m"
        }
    }

    private static func shrink(_ rgba: [UInt8], _ width: Int, _ height: Int, columns: Int, rows: Int) -> [SIMD3<Int>] {
        var pixels: [SIMD3<Int>] = []
        pixels.reserveCapacity(columns * rows)
        for row in 0..<rows {
            let top = row * height / rows
            let bottom = max(top + 1, (row + 1) * height / rows)
            for column in 0..<columns {
                let left = column * width / columns
                let right = max(left + 1, (column + 1) * width / columns)
                var sum = SIMD3<Int>.zero
                for y in top..<bottom {
                    for x in left..<right {
                        let offset = (y * width + x) * 4
                        // Transparent pixels, such as those of missing rows, are black.
                        let alpha = Int(rgba[offset + 3])
                        sum &+= SIMD3(Int(rgba[offset]), Int(rgba[offset + 1]), Int(rgba[offset + 2])) &* alpha
                    }
                }
                pixels.append(sum / ((bottom - top) * (right - left) * 255))
            }
        }
        return pixels
    }
}
