import HTTPTransport
import HTTPTypes

/// What decides the bytes of a response: callers whose keys are equal share one download.
struct FetchKey: Sendable, Hashable {
    let url: HTTPURL
    /// Only the request's own fields; the configuration's are the same for all.
    let headerFields: HTTPFields
    /// Only the request's own.
    var credential: Credential?
    var handlesCookies = false

    /// The URL tells keys apart well enough; the fields are compared, not hashed.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url.string)
    }
}

/// What decides the pixels: callers whose keys are equal share one decode.
struct VariantKey: Sendable, Hashable {
    let fetch: FetchKey
    let options: DecodeOptions
}
