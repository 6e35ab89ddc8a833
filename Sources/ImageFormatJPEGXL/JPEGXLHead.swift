#if JPEGXL
import CJXL
import ImageCodecs

/// The properties that a file declares before its pixels.
struct JPEGXLHead {
    let header: ImageHeader
    let isAnimated: Bool
    /// The profile of the pixels, as of ``JPEGXLDecoder/chooseColors(_:)``.
    let colorProfile: [UInt8]?

    /// Parses the beginning of a file; returns `nil` while more bytes are needed.
    init?(_ beginning: Span<UInt8>) throws(CodecError) {
        var scanner = JPEGXLFrameScanner(.header)
        // libjxl waits for another byte after the header.
        let codestream = try scanner.admit(beginning) + scanner.admitRest() + [0]
        guard scanner.hasHeader else { return nil }
        let decoder = try JPEGXLDecoder(JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING)
        var information = JxlBasicInfo()
        var profile: [UInt8]?
        var isComplete = false
        try decoder.append(codestream.span) { (event) throws(CodecError) in
            if event == JXL_DEC_BASIC_INFO {
                information = try decoder.information()
            } else if event == JXL_DEC_COLOR_ENCODING {
                profile = try decoder.chooseColors(information)
                isComplete = true
            }
            return !isComplete
        }
        guard isComplete else { throw .corrupt(.jpegXL, "libjxl finds no header") }
        guard let memoryUsage = Self.memoryUsage(of: beginning, information) else { return nil }
        var header = Self.header(information)
        header.memoryUsage = memoryUsage
        self.header = header
        isAnimated = information.have_animation != 0
        colorProfile = profile
    }

    /// Returns whether the beginning of a file declares an animation; `nil` if that is not known yet.
    static func isAnimated(_ beginning: Span<UInt8>) -> Bool? {
        var scanner = JPEGXLFrameScanner(.header)
        _ = try? scanner.admit(beginning)
        return scanner.image?.isAnimated
    }

    private static func header(_ information: JxlBasicInfo) -> ImageHeader {
        var header = ImageHeader(
            format: .jpegXL, size: PixelSize(width: Int(information.xsize), height: Int(information.ysize)))
        header.orientation = ImageOrientation(rawValue: Int(information.orientation.rawValue)) ?? .up
        header.hasAlpha = information.alpha_bits > 0
        header.bitsPerChannel = Int(min(information.bits_per_sample, 16))
        header.colorChannels = Int(information.num_color_channels)
        return header
    }
}

extension JPEGXLHead {
    /// Returns the memory that libjxl takes at most, and that for the decoded pixels, in bytes; `nil` while more bytes are
    /// needed.
    ///
    /// Measured with libjxl 0.7: up to 4 bytes for a pixel of three channels of cosine transforms, and 20 if they arrive
    /// in several passes; 30 in the modular mode, and 10 for alpha; and 16 for a layer to which later ones refer.
    private static func memoryUsage(of beginning: Span<UInt8>, _ information: JxlBasicInfo) -> Int? {
        var scanner = JPEGXLFrameScanner(.frameHeader, memory: .max / 4)
        do throws(CodecError) {
            _ = try scanner.admit(beginning)
            _ = try scanner.admitRest()
            if scanner.firstFrame == nil { return nil }
        } catch {
            // A frame that libjxl will not receive.
        }
        let size = PixelSize(width: Int(information.xsize), height: Int(information.ysize))
        var perPixel = information.alpha_bits > 0 ? 56 : 46
        if let frame = scanner.firstFrame, frame.isLast, frame.size == size {
            let isPlain = !frame.isModular && information.num_extra_channels == 0
            perPixel = isPlain ? frame.passes > 1 ? 20 : 8 : perPixel - 16
        }
        perPixel += information.bits_per_sample > 8 ? 8 : 4
        let (bytes, overflow) = size.area.multipliedReportingOverflow(by: perPixel)
        return overflow ? .max : min(bytes, .max - 8 << 20) + 8 << 20
    }
}
#endif
