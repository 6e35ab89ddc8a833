@testable import webimage

extension ImageFetcher {
    /// Processes a single source.
    func get(_ source: ImageSource) async throws -> Outcome {
        try await get(source, at: SourcePlace(for: source, in: ConversionPlaces(limit: 1)))
    }
}
