#if JPEGXL
import CJXL
import ImageCodecs

/// The memory into which libjxl decodes a frame: RGBA with 8 bits, or with 16 if the image has more than 8.
@safe
final class JPEGXLPixels {
    private let size: PixelSize
    private let isDeep: Bool
    /// libjxl keeps the address until the frame is complete.
    private let memory: UnsafeMutableRawBufferPointer

    init(_ header: ImageHeader) {
        size = header.size
        isDeep = header.bitsPerChannel > 8
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size.area * (isDeep ? 8 : 4), alignment: MemoryLayout<UInt64>.alignment)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe self.memory = memory
    }

    deinit {
        unsafe memory.deallocate()
    }

    /// Makes `decoder` write the current frame here.
    ///
    /// Call this method at `JXL_DEC_NEED_IMAGE_OUT_BUFFER`.
    func receiveFrame(from decoder: JPEGXLDecoder) throws(CodecError) {
        var format = JxlPixelFormat(
            num_channels: 4, data_type: isDeep ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN,
            align: 0)
        var needed = 0
        try decoder.check(unsafe JxlDecoderImageOutBufferSize(decoder.handle, &format, &needed))
        guard unsafe needed == memory.count else {
            throw .corrupt(.jpegXL, "a frame of another size than \(size)")
        }
        try decoder.check(unsafe JxlDecoderSetImageOutBuffer(decoder.handle, &format, memory.baseAddress, needed))
    }

    /// Passes all rows to `rows`.
    func passRows(to rows: inout ImageRows) throws(CodecError) {
        let count = size.width * 4
        for y in 0..<size.height {
            let range = y * count..<(y + 1) * count
            if isDeep {
                let samples = unsafe UnsafeBufferPointer(memory.bindMemory(to: UInt16.self))
                try unsafe rows.append(samples.span.extracting(range))
            } else {
                let samples = unsafe UnsafeBufferPointer(memory.bindMemory(to: UInt8.self))
                try unsafe rows.append(samples.span.extracting(range))
            }
        }
    }
}
#endif
