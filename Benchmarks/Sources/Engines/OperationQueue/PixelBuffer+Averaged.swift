import ImageCodecs

extension PixelBuffer {
    /// Returns the image scaled down to sides of at most `side`, with each pixel the plain average of a box.
    ///
    /// The original scales by drawing into a smaller bitmap, which costs more.
    func averaged(toMaximumSide side: Int) -> PixelBuffer {
        let longest = max(width, height)
        guard longest > side, side > 0 else { return self }
        let target = PixelSize(width: max(1, width * side / longest), height: max(1, height * side / longest))
        let columns = (0...target.width).map { $0 * width / target.width }
        var result: [UInt8] = []
        result.reserveCapacity(target.area * 4)
        var sums = [Int](repeating: 0, count: target.width * 4)
        for y in 0..<target.height {
            let rows = y * height / target.height..<(y + 1) * height / target.height
            for index in sums.indices { sums[index] = 0 }
            for row in rows {
                var source = row * width * 4
                for x in 0..<target.width {
                    var (red, green, blue, alpha): (Int, Int, Int, Int) = (0, 0, 0, 0)
                    for _ in columns[x]..<columns[x + 1] {
                        red += Int(bytes[source])
                        green += Int(bytes[source + 1])
                        blue += Int(bytes[source + 2])
                        alpha += Int(bytes[source + 3])
                        source += 4
                    }
                    sums[x * 4] += red
                    sums[x * 4 + 1] += green
                    sums[x * 4 + 2] += blue
                    sums[x * 4 + 3] += alpha
                }
            }
            for x in 0..<target.width {
                let count = rows.count * (columns[x + 1] - columns[x])
                for channel in 0..<4 { result.append(UInt8(sums[x * 4 + channel] / count)) }
            }
        }
        return PixelBuffer(size: target, bytes: result) ?? self
    }
}
