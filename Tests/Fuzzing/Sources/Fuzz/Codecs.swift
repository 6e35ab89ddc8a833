import ImageCodecs
import ImageEncoders
import ImageFormatAVIF
import ImageFormatHEIC
import ImageFormatJPEGXL
import ImageFormatTIFF

private let limits = DecodeLimits(
    maximumPixels: 1 << 18, maximumBytes: 1 << 20, maximumScans: 20, maximumFrames: 20,
    maximumWork: 1 << 21)

/// The formats of further libraries.
private let formats: [any CustomFormat] = [
    AVIFFormat(), HEICFormat(), JPEGXLAnimationFormat(), JPEGXLFormat(), TIFFFormat(),
]

/// Returns the options that the bytes select, so that each input is always decoded in the same way.
private func options(_ choice: Int) -> DecodeOptions {
    let targets: [DecodeOptions.Target] = [
        .original, .maximumSide(9), .fill(PixelSize(width: 20, height: 7)), .maximumSide(100),
    ]
    return DecodeOptions(
        target: targets[choice & 3], ignoresOrientation: choice & 4 != 0, stopsWhenComplete: choice & 8 != 0,
        allowsPartial: choice & 16 != 0)
}

private func choice(_ bytes: [UInt8]) -> Int {
    bytes.suffix(8).reduce(bytes.count) { $0 &* 31 &+ Int($1) } & 0xFFFF
}

/// Decodes an image in pieces and with previews, and restores the JPEG of which it was made.
func decode(_ bytes: [UInt8]) {
    if let jpeg = try? JPEGXL.jpeg(from: bytes, limits: limits) { precondition(jpeg.count <= limits.maximumBytes) }
    let choice = choice(bytes)
    let decoder = StreamingDecoder(options: options(choice), limits: limits, customFormats: formats)
    // Not too many pieces: a preview is made after each of them.
    let piece = choice & 32 != 0 ? 1 + choice >> 8 + bytes.count / 50 : max(1, bytes.count)
    do {
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try decoder.append(bytes.span.extracting(start..<min(start + piece, bytes.count)))
            guard decoder.plan != nil else { continue }
            try decoder.begin()
            if choice & 64 != 0, let preview = try decoder.preview(maximumSide: 30) { check(preview.pixels) }
        }
        check(try decoder.finish())
    } catch {
        if let partial = decoder.partialImage { check(partial) }
    }
}

/// Verifies the bytes, whole and in pieces; a file that passes can be decoded.
func verify(_ bytes: [UInt8]) {
    let whole = try? ImageVerifier.verify(bytes.span, limits: limits, customFormats: formats)
    let verifier = ImageVerifier(limits: limits, customFormats: formats)
    let piece = 1 + choice(bytes) >> 8 + bytes.count / 50
    let pieces = try? {
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try verifier.append(bytes.span.extracting(start..<min(start + piece, bytes.count)))
            try verifier.begin()
        }
        return try verifier.finish()
    }()
    precondition(pieces == whole)
    guard whole != nil else { return }
    do {
        let image = try StreamingDecoder.decode(bytes.span, limits: limits, customFormats: formats)
        precondition(!image.isPartial)
    } catch {
        preconditionFailure("passed, but cannot be decoded: \(error)")
    }
}

/// Plays every frame of an animation.
func play(_ bytes: [UInt8]) {
    playArriving(bytes)
    guard
        let image = try? AnimatedImage(
            bytes, options: options(choice(bytes)), limits: limits, customFormats: formats)
    else { return }
    let decoder = AnimationDecoder(image, windowBytes: 1 << 16)
    for index in 0..<image.frameCount {
        guard let frame = try? decoder.frame(at: index) else { return }
        check(frame)
        precondition(frame.size == image.size)
    }
    // Seeks back.
    _ = try? decoder.frame(at: image.frameCount / 2)
}

/// Decodes each frame as soon as its pieces have arrived; the result must equal that of the whole file.
private func playArriving(_ bytes: [UInt8]) {
    let choice = choice(bytes)
    var animation = StreamingAnimation(options: options(choice), limits: limits, customFormats: formats)
    var decoder: AnimationDecoder?
    let piece = 1 + choice >> 8 + bytes.count / 50
    var frameCount: Int?
    do {
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let known = animation.frameCount
            try animation.append(bytes.span.extracting(start..<min(start + piece, bytes.count)))
            precondition(animation.frameCount >= known)
            guard animation.frameCount > known, let image = animation.image else { continue }
            if decoder == nil { decoder = AnimationDecoder(image, windowBytes: 0) }
            decoder?.extend(to: image)
            if let frame = try? decoder?.frame(at: known) { check(frame) }
        }
        frameCount = try animation.finish().frameCount
    } catch {
        precondition(animation.image?.frameCount ?? 0 == animation.frameCount)
    }
    let whole = try? AnimatedImage(bytes, options: options(choice), limits: limits, customFormats: formats)
    precondition(whole?.frameCount == frameCount)
}

/// Encodes the bytes as pixels, and decodes the file.
func encode(_ bytes: [UInt8]) {
    guard bytes.count > 4 else { return }
    let size = PixelSize(width: 1 + Int(bytes[0]) % 40, height: 1 + Int(bytes[1]) % 40)
    let content = (0..<size.area * 4).map { bytes[4 + $0 % (bytes.count - 4)] }
    guard let pixels = PixelBuffer(size: size, bytes: content) else { preconditionFailure("sizes agree") }
    let format = EncodeOptions.formats[Int(bytes[2]) % EncodeOptions.formats.count]
    do {
        let file = try pixels.encoded(as: format, quality: 1 + Int(bytes[3]) % 100)
        let decoded = try StreamingDecoder.decode(file.span)
        precondition(decoded.pixels.size == size && !decoded.isPartial)
        if format == .png { precondition(decoded.pixels == pixels) }
    } catch {
        preconditionFailure("\(format): \(error)")
    }
}

private func check(_ image: DecodedImage) {
    check(image.pixels)
    precondition(image.completeRows >= 0 && image.completeRows <= max(image.pixels.height, image.pixels.width))
}

private func check(_ pixels: PixelBuffer) {
    precondition(pixels.size.area > 0 && pixels.bytes.count == pixels.size.area * 4)
}
