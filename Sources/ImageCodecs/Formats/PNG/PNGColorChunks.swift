/// The color declarations in the chunks of a PNG (PNG, third edition, 4.3).
struct PNGColorChunks {
    /// The data of `iCCP`.
    var profile: [UInt8]?
    private var codePoints: [UInt8]?
    private var isSRGB = false
    private var gamma: Double?
    private var primaries: PrimariesSpace.Primaries?

    /// Adds the data of another chunk; the first of each kind is used.
    mutating func add(_ data: Span<UInt8>, named name: Span<UInt8>) {
        if name.has("cICP", at: 0) {
            codePoints = codePoints ?? Array(copying: data.extracting(first: 4))
        } else if name.has("sRGB", at: 0) {
            isSRGB = true
        } else if name.has("gAMA", at: 0) {
            gamma = gamma ?? data.bigEndian32(at: 0).map { Double($0) / 100_000 }
        } else if name.has("cHRM", at: 0), primaries == nil, data.count == 32 {
            func place(_ index: Int) -> PrimariesSpace.Chromaticity {
                func number(_ offset: Int) -> Double { Double(data.bigEndian32(at: offset) ?? 0) / 100_000 }
                return .init(number(index * 8), number(index * 8 + 4))
            }
            primaries = .init(white: place(0), red: place(1), green: place(2), blue: place(3))
        }
    }

    /// All declarations, in order of precedence.
    var sources: [ColorSource] {
        var sources: [ColorSource] = []
        if let codePoints { sources.append(ColorSource(codePoints: codePoints)) }
        if let profile { sources.append(ColorSource(compressedProfile: profile.span)) }
        if isSRGB { sources.append(.sRGB) }
        if let gamma, let source = Self.source(gamma: gamma, primaries) { sources.append(source) }
        return sources
    }

    /// Returns a source for the gamma, or `nil` if it is invalid; invalid primaries are ignored.
    private static func source(gamma: Double, _ stored: PrimariesSpace.Primaries?) -> ColorSource? {
        guard (0.1...10).contains(gamma) else { return nil }
        var primaries = PrimariesSpace.Primaries.bt709
        if let stored, stored.areValid, !stored.isWithin(0.002, of: .bt709) { primaries = stored }
        // The declaration of sRGB before it had a chunk of its own.
        if abs(gamma - 1 / 2.2) < 0.005, primaries == .bt709 { return .sRGB }
        return .primaries(PrimariesSpace(primaries: primaries, curve: .power(gamma: 1 / gamma)))
    }
}

extension ColorSource {
    /// Creates a color source from the code points of a `cICP` chunk.
    fileprivate init(codePoints: [UInt8]) {
        guard codePoints.count == 4, codePoints[2] == 0, codePoints[3] == 1 else {
            self = .unusable
            return
        }
        self = CodedColors.source(primaries: Int(codePoints[0]), transfer: Int(codePoints[1]))
    }

    /// Creates a source from an `iCCP` chunk: a name, a zero byte, another zero for deflate, and the compressed
    /// profile.
    fileprivate init(compressedProfile data: Span<UInt8>) {
        guard let name = (0..<min(80, data.count)).first(where: { data[$0] == 0 }), data.byte(at: name + 1) == 0 else {
            self = .unusable
            return
        }
        let stream = data.extracting((name + 2)...)
        let profile = Zlib.inflate(stream, limit: Self.maximumProfileBytes)
        self = profile.map { .profile($0) } ?? .unusable
    }
}
