/// The memory that converting an animation takes, which depends on the size of its output.
///
/// A few kilobytes can define frames that take gigabytes in another format. Most outputs, however, are not much larger
/// than the original, and memory reserved for more would keep other images waiting. The conversion is therefore tried
/// with a low limit first, and with higher ones after that, up to all the memory that one conversion may use.
package struct AnimationMemory: Sendable, Equatable {
    /// The minimum of the first limit for the output, in bytes.
    package static let smallestOutput = 1 << 20
    /// The first limit for the output, relative to the original file.
    package static let usualGrowth = 4
    /// The growth from one limit for the output to the next.
    private static let furtherGrowth = 8
    /// The number of times that the output is in memory: an array that grows temporarily exists twice.
    private static let copies = 2

    /// The memory apart from the output, in bytes: the original file, and the work on one frame.
    package let base: Int
    /// The limits for the output to try one after the other, in bytes.
    package let outputLimits: [Int]

    /// Creates the memory for an original of `file` bytes, if the work on a frame takes `frame` bytes, and a conversion
    /// may use `limit` bytes.
    ///
    /// Encoders that do not tell the size of the output before its end get the last limit at once.
    package init(frame: Int, file: Int, limit: Int, tellsSize: Bool = true) {
        base = frame + file
        let most = max(0, limit - base) / Self.copies
        var limits: [Int] = []
        var next = max(Self.smallestOutput, Self.usualGrowth * file)
        while tellsSize, next < most {
            limits.append(next)
            next = next > most / Self.furtherGrowth ? most : next * Self.furtherGrowth
        }
        outputLimits = limits + [most]
    }

    /// Returns the number of bytes to reserve for a limit of the output.
    package func bytes(forOutput outputLimit: Int) -> Int { base + Self.copies * outputLimit }
}
