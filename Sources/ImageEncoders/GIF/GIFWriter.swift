import CGIF
import ImageCodecs

/// Writes the blocks of a GIF with giflib.
@safe
final class GIFWriter {
    /// The output of giflib's write callback.
    private final class Output {
        var bytes: [UInt8] = []
    }

    private let output = Output()
    /// The encoder; `nil` once the file is complete.
    private var file: UnsafeMutablePointer<GifFileType>?

    init(size: PixelSize) throws(CodecError) {
        var status: Int32 = 0
        // The callback runs only during the calls below, while `output` exists.
        unsafe file = EGifOpen(
            Unmanaged.passUnretained(output).toOpaque(),
            { file, bytes, count in
                guard let pointer = unsafe file?.pointee.UserData, count > 0 else { return 0 }
                let output = unsafe Unmanaged<Output>.fromOpaque(pointer).takeUnretainedValue()
                unsafe output.bytes.append(contentsOf: UnsafeBufferPointer(start: bytes, count: Int(count)))
                return count
            }, &status)
        guard let file = unsafe file else { throw Self.error(status) }
        unsafe EGifSetGifVersion(file, true)
        try check(unsafe EGifPutScreenDesc(file, Int32(clamping: size.width), Int32(clamping: size.height), 8, 0, nil))
    }

    deinit {
        if let file = unsafe file { unsafe EGifCloseFile(file, nil) }
    }

    /// The number of bytes written so far.
    var byteCount: Int { output.bytes.count }

    /// Writes the extension that repeats an animation; 0 repetitions mean forever.
    func writeLoop(repetitions: UInt16) throws(CodecError) {
        let name = Array("NETSCAPE2.0".utf8)
        let content = [1, UInt8(truncatingIfNeeded: repetitions), UInt8(truncatingIfNeeded: repetitions >> 8)]
        try check(unsafe EGifPutExtensionLeader(file, APPLICATION_EXT_FUNC_CODE))
        try check(unsafe EGifPutExtensionBlock(file, Int32(name.count), name))
        try check(unsafe EGifPutExtensionBlock(file, Int32(content.count), content))
        try check(unsafe EGifPutExtensionTrailer(file))
    }

    /// Writes a frame shown for `delay` hundredths of a second at its position, which can be cleared afterward.
    func write(
        _ image: IndexedImage, at place: PixelRectangle, clearsPlace: Bool, delay: UInt16
    ) throws(CodecError) {
        var control = GraphicsControlBlock(
            DisposalMode: clearsPlace ? DISPOSE_BACKGROUND : DISPOSE_DO_NOT, UserInputFlag: false,
            DelayTime: Int32(delay),
            TransparentColor: image.transparentIndex.map(Int32.init) ?? NO_TRANSPARENT_COLOR)
        var content = [UInt8](repeating: 0, count: 4)
        let length = unsafe EGifGCBToExtension(&control, &content)
        try check(unsafe EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, Int32(length), content))

        var colors = image.colors.map { GifColorType(Red: $0.red, Green: $0.green, Blue: $0.blue) }
        // The length of a palette is a power of two and includes the transparent index.
        let used = max(colors.count + (image.transparentIndex == nil ? 0 : 1), 2)
        let count = 1 << Int(GifBitSize(Int32(used)))
        colors += repeatElement(GifColorType(Red: 0, Green: 0, Blue: 0), count: count - colors.count)
        let map = unsafe GifMakeMapObject(Int32(count), colors)
        defer { unsafe GifFreeMapObject(map) }
        guard unsafe map != nil else { throw .encodingFailed(.gif, "out of memory") }
        let (width, height) = (Int32(clamping: place.size.width), Int32(clamping: place.size.height))
        try check(
            unsafe EGifPutImageDesc(
                file, Int32(clamping: place.left), Int32(clamping: place.top), width, height, false, map))
        for row in 0..<place.size.height {
            var line = Array(image.indices[(row * place.size.width)..<((row + 1) * place.size.width)])
            try check(unsafe EGifPutLine(file, &line, width))
        }
    }

    /// Returns the file, including its trailer.
    func finish() throws(CodecError) -> [UInt8] {
        var status: Int32 = 0
        let closed = unsafe EGifCloseFile(file, &status)
        unsafe file = nil
        guard closed == GIF_OK else { throw Self.error(status) }
        return output.bytes
    }

    private func check(_ status: Int32) throws(CodecError) {
        guard status == GIF_OK else { throw Self.error(unsafe file?.pointee.Error ?? 0) }
    }

    private static func error(_ code: Int32) -> CodecError {
        let message = unsafe GifErrorString(code).map { unsafe String(cString: $0) }
        return .encodingFailed(.gif, message ?? "error \(code)")
    }
}
