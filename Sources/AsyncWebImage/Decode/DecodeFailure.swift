import ImageCodecs

/// Why an image could not be finished, and what there is of it.
struct DecodeFailure: Error {
    let cause: CodecError
    let partial: DecodedImage
}
