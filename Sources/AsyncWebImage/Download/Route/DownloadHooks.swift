import HTTPTransport

/// The hooks of a configuration.
struct DownloadHooks: Sendable {
    let modifier: (any RequestModifier)?
    let validator: (any ResponseValidator)?
    let transform: (any BodyTransform)?

    /// Creates the hooks; returns `nil` if there are none, so that downloads can bypass them.
    init?(_ configuration: DownloadConfiguration) {
        modifier = configuration.requestModifier
        validator = configuration.responseValidator
        transform = configuration.bodyTransform
        if modifier == nil, validator == nil, transform == nil { return nil }
    }

    func request(instead request: TransportRequest) async throws -> TransportRequest {
        guard let modifier else { return request }
        return try await asking(.requestModifier, request.url) { try await modifier.modify(request) }
    }

    func validate(_ head: ResponseHead, to request: TransportRequest) async throws {
        guard let validator else { return }
        try await asking(.responseValidator, head.url) { try await validator.validate(head, to: request) }
    }

    func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)? {
        guard let transform else { return nil }
        return try await asking(.bodyTransform, head.url) { try await transform.transformer(for: head) }
    }

    /// Calls a hook; its errors become errors of the download, except that the library's own are passed on unchanged.
    func asking<Result>(
        _ hook: ImageError.Hook, _ url: HTTPURL, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            throw Self.failure(of: hook, url, because: error)
        }
    }

    private static func failure(of hook: ImageError.Hook, _ url: HTTPURL, because error: any Error) -> ImageError {
        (error as? ImageError) ?? .rejected(by: hook, url: url.string, cause: error)
    }
}
