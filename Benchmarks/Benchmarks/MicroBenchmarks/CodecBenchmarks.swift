import Benchmark
import ImageEncoders

@testable import ImageCodecs

/// The cost of decoding a row of 1,000 pixels of a file in memory with each codec, including the header's share.
enum CodecBenchmarks {
    static func register() {
        for format in ImageFormat.allBuiltIn { decode(format, "Decode_\(format.identifier)") }
        decode(.jpeg, isProgressive: true, "Decode_jpeg_progressive")
    }

    private static func decode(_ format: ImageFormat, isProgressive: Bool = false, _ name: String) {
        var file: [UInt8] = []
        Benchmark(name, configuration: .thousandSteps) { benchmark in
            guard let head = try FileHead(of: file.span, limits: DecodeLimits()) else {
                throw CodecError.truncated(format)
            }
            let rows = RowDrain()
            let decoder = try head.format.rowDecoder(
                for: head.header, rowSize: head.header.size, limits: DecodeLimits(), toleratesDamage: false)
            try decoder.append(file.span, to: rows)
            try decoder.finish(to: rows)
            if rows.count != benchmark.scaledIterations.count { benchmark.error("\(rows.count) rows") }
        } setup: {
            file = try Picture.pixels(side: 1_000).encoded(as: format, isProgressive: isProgressive)
        }
    }
}
