public import ArgumentParser
public import AsyncWebImage
import ImageCodecs

/// A width and height in pixels as a command-line argument, such as `640x480`.
struct BoxSize: ExpressibleByArgument, Equatable {
    let size: PixelSize

    /// Parses the argument; returns `nil` unless both are positive integers.
    init?(argument: String) {
        let sides = argument.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "X" }.map(Self.side)
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        size = PixelSize(width: width, height: height)
    }

    private static func side(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let side = Int(text),
            side > 0
        else { return nil }
        return side
    }
}

extension Resampling.Filter: ExpressibleByArgument {}
