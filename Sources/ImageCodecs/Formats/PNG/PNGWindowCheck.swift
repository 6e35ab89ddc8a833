import CPNG

/// Detects image data of a PNG that refers to data outside of the window that its zlib stream declares.
///
/// The pixels are right all the same: decoders use the largest window, as browsers do.
@safe
final class PNGWindowCheck {
    private static let largestWindow = 32 << 10

    /// The number of bytes of the decompressed image.
    private let outputLength: Int
    private var window: OpaquePointer?
    private var hasBegun = false
    /// A Boolean value that indicates whether such a reference has been found.
    private(set) var isTooSmall = false

    /// Creates a check of a stream of `outputLength` decompressed bytes.
    init(outputLength: Int) {
        self.outputLength = outputLength
    }

    deinit {
        unsafe cpng_window_destroy(window)
    }

    /// Reads the next bytes of the stream.
    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        guard !bytes.isEmpty else { return }
        if !hasBegun {
            hasBegun = true
            // RFC 1950, section 2.2: CINFO, the logarithm of the window size, less 8.
            let declared = 1 << (8 + Int(bytes[0] >> 4))
            guard declared < min(Self.largestWindow, outputLength) else { return }
            unsafe window = cpng_window_create()
            guard unsafe window != nil else { throw .outOfMemory(.png) }
        }
        guard let window = unsafe window, !isTooSmall else { return }
        isTooSmall = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cpng_window_run(window, bytes.baseAddress, bytes.count)
        }
    }
}
