import AsyncWebImage
import Testing

@testable import webimage

extension ImageFetcher {
    /// Processes a single source.
    func get(_ source: ImageSource) async throws -> Outcome {
        let outcomes = Outcomes()
        try await loader.forEach([source], maximumActive: 1) { source, slot in
            await outcomes.add(try await get(source, slot))
        }
        return try #require(await outcomes.all.first)
    }

    private actor Outcomes {
        private(set) var all: [Outcome] = []

        func add(_ outcome: Outcome) { all.append(outcome) }
    }
}
