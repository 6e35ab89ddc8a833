/// Adapts the parser of a ``CustomFormat``, or lists the frames of a ``WholeFileFormat``.
struct CustomAnimationParser: AnimationParser {
    var index: AnimationIndex
    let hasEnded = false
    /// The parser; `nil` if the format needs the whole file.
    private var parser: (any CustomAnimation)?
    private let wholeFormat: (any WholeFileFormat)?
    /// The number of bytes that have been parsed of those that have not been discarded.
    private var parsed = 0

    static func still(_ frame: StoredFrame, of index: AnimationIndex) -> [UInt8] { frame.data }

    init(_ index: AnimationIndex, beginning: Span<UInt8>) {
        self.index = index
        let custom = (index.format as? CustomFormatDescriptor)?.custom
        wholeFormat = custom as? any WholeFileFormat
        if wholeFormat == nil {
            parser = custom?.animation(for: index.header)
        } else {
            self.index.preamble = Array(copying: beginning)
        }
    }

    mutating func consume(_ bytes: Span<UInt8>) throws(CodecError) {
        if let wholeFormat, index.frames.isEmpty {
            guard let animation = try wholeFormat.animation(of: index.preamble, header: index.header) else { return }
            index.repetitionCount = max(animation.repetitionCount, 0)
            for delay in animation.delays {
                try index.add(
                    StoredFrame(
                        left: 0, top: 0, size: index.header.size, delay: StoredFrame.bounded(delay), data: []))
            }
        }
        guard let frames = try parser?.append(bytes.extracting(droppingFirst: min(parsed, bytes.count))) else { return }
        parsed = bytes.count
        index.repetitionCount = max(parser?.repetitionCount ?? 0, 0)
        for frame in frames {
            try index.add(StoredFrame(frame, on: index.header.size, of: index.header.format))
        }
    }

    mutating func forget(of count: Int) -> Int {
        defer { parsed = 0 }
        return parser == nil ? count : parsed
    }

    mutating func finish(at count: Int) throws(CodecError) {
        try parser?.finish()
    }
}
