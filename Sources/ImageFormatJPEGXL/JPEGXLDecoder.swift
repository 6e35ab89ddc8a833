#if JPEGXL
import CJXL
import ImageCodecs

/// Owns a decoder of libjxl, to which a file is passed in pieces.
@safe
final class JPEGXLDecoder {
    let handle: OpaquePointer
    private let events: Int32
    /// The few bytes that libjxl has not consumed, and expects again in front of the next ones.
    private var rest: [UInt8] = []

    /// Creates a decoder that reports `events`, and neither turns pixels nor leaves them premultiplied.
    init(_ events: JxlDecoderStatus...) throws(CodecError) {
        guard let handle = unsafe JxlDecoderCreate(nil) else { throw .outOfMemory(.jpegXL) }
        unsafe self.handle = handle
        self.events = Int32(events.reduce(0) { $0 | $1.rawValue })
        try check(unsafe JxlDecoderSubscribeEvents(handle, self.events))
        try check(unsafe JxlDecoderSetKeepOrientation(handle, 1))
        try check(unsafe JxlDecoderSetUnpremultiplyAlpha(handle, 1))
    }

    deinit {
        unsafe JxlDecoderDestroy(handle)
    }

    /// Returns to the beginning of the file, which must be set as the input again.
    func rewind() throws(CodecError) {
        _ = unsafe JxlDecoderReleaseInput(handle)
        unsafe JxlDecoderRewind(handle)
        // Without it, libjxl 0.7 reports no event anymore.
        try check(unsafe JxlDecoderSubscribeEvents(handle, events))
    }

    /// Throws an error unless a function succeeded; libjxl does not tell the reason.
    func check(_ status: JxlDecoderStatus) throws(CodecError) {
        guard status == JXL_DEC_SUCCESS else { throw .corrupt(.jpegXL, "libjxl cannot decode it") }
    }

    /// Decodes the next bytes of the file and calls `react` for each event until it returns `false`.
    ///
    /// Returns `false` if `react` did, or if there are no more events.
    @discardableResult
    func append(
        _ bytes: Span<UInt8>, _ react: (JxlDecoderStatus) throws(CodecError) -> Bool
    ) throws(CodecError) -> Bool {
        if rest.isEmpty {
            return try unsafe bytes.withUnsafeBufferPointer { (input) throws(CodecError) -> Bool in
                try unsafe process(input, react)
            }
        }
        var joined = rest
        joined.reserveCapacity(rest.count + bytes.count)
        for index in bytes.indices { joined.append(bytes[index]) }
        rest = []
        return try unsafe joined.withUnsafeBufferPointer { (input) throws(CodecError) -> Bool in
            try unsafe process(input, react)
        }
    }

    private func process(
        _ input: UnsafeBufferPointer<UInt8>, _ react: (JxlDecoderStatus) throws(CodecError) -> Bool
    ) throws(CodecError) -> Bool {
        guard !input.isEmpty else { return true }
        try check(unsafe JxlDecoderSetInput(handle, input.baseAddress, input.count))
        while true {
            let status = unsafe JxlDecoderProcessInput(handle)
            switch status {
            case JXL_DEC_ERROR: try check(status)
            case JXL_DEC_NEED_MORE_INPUT:
                unsafe rest = Array(input.suffix(JxlDecoderReleaseInput(handle)))
                return true
            case JXL_DEC_SUCCESS: return false
            default:
                guard try react(status) else {
                    unsafe rest = Array(input.suffix(JxlDecoderReleaseInput(handle)))
                    return false
                }
            }
        }
    }

    /// The properties of the image; call this method after `JXL_DEC_BASIC_INFO`.
    func information() throws(CodecError) -> JxlBasicInfo {
        var information = JxlBasicInfo()
        try check(unsafe JxlDecoderGetBasicInfo(handle, &information))
        for index in 0..<Int(information.num_extra_channels) {
            var channel = JxlExtraChannelInfo()
            try check(unsafe JxlDecoderGetExtraChannelInfo(handle, index, &channel))
            guard channel.type != JXL_CHANNEL_BLACK else { throw .unsupportedFeature(.jpegXL, "CMYK") }
        }
        return information
    }

    /// Makes the pixels sRGB if libjxl can convert them, or BT.2100 if they have a high dynamic range; returns their
    /// profile: `nil` for sRGB, and an empty one if there is none that is supported.
    ///
    /// Call this method at `JXL_DEC_COLOR_ENCODING`.
    func chooseColors(_ information: JxlBasicInfo) throws(CodecError) -> [UInt8]? {
        let isGray = information.num_color_channels == 1
        if information.uses_original_profile == 0 {
            var colors = JxlColorEncoding()
            unsafe JxlColorEncodingSetToSRGB(&colors, isGray ? 1 : 0)
            if let original = encodedColors(JXL_COLOR_PROFILE_TARGET_ORIGINAL), original.isHighDynamicRange {
                if !isGray { colors.primaries = JXL_PRIMARIES_2100 }
                colors.transfer_function = original.transfer_function
            }
            try check(unsafe JxlDecoderSetPreferredColorProfile(handle, &colors))
        }
        if let colors = encodedColors(JXL_COLOR_PROFILE_TARGET_DATA) {
            guard colors.color_space != JXL_COLOR_SPACE_UNKNOWN else { return [] }
            let hasKnownWhite = colors.white_point == JXL_WHITE_POINT_D65
            if colors.isHighDynamicRange {
                let isKnown = hasKnownWhite && (isGray || colors.primaries != JXL_PRIMARIES_CUSTOM)
                return isKnown ? CodedColors.profile(colors, isGray: isGray) : []
            }
            let isSRGB =
                hasKnownWhite && colors.transfer_function == JXL_TRANSFER_FUNCTION_SRGB
                && (isGray || colors.primaries == JXL_PRIMARIES_SRGB)
            if isSRGB { return nil }
        }
        var count = 0
        guard unsafe cjxl_get_profile_size(handle, &count) == JXL_DEC_SUCCESS,
            count <= ImageMetadata.maximumBytes
        else { return [] }
        var profile = [UInt8](repeating: 0, count: count)
        try check(unsafe cjxl_get_profile(handle, &profile, count))
        return profile
    }

    /// Returns the colors of the file or of the pixels; `nil` if only a profile describes them.
    private func encodedColors(_ target: JxlColorProfileTarget) -> JxlColorEncoding? {
        var colors = JxlColorEncoding()
        return unsafe cjxl_get_encoded_profile(handle, target, &colors) == JXL_DEC_SUCCESS ? colors : nil
    }
}

extension JxlColorEncoding {
    fileprivate var isHighDynamicRange: Bool {
        [JXL_TRANSFER_FUNCTION_PQ, JXL_TRANSFER_FUNCTION_HLG].contains(transfer_function)
    }
}

extension CodedColors {
    /// Returns an ICC profile for colors whose primaries and transfer function are named.
    fileprivate static func profile(_ colors: JxlColorEncoding, isGray: Bool) -> [UInt8]? {
        // The numbers of libjxl are the code points, except that 11 would mean the white point of DCI-P3.
        let isP3 = colors.primaries == JXL_PRIMARIES_P3
        return profile(
            primaries: isGray ? 1 : isP3 ? 12 : Int(colors.primaries.rawValue),
            transfer: Int(colors.transfer_function.rawValue))
    }
}
#endif
