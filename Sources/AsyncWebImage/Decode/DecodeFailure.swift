import ImageCodecs

/// The reason why decoding failed, and the decoded part of the image.
struct DecodeFailure: Error {
    let cause: CodecError
    let partial: DecodedImage
}
