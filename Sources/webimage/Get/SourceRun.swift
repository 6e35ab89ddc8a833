import AsyncWebImage
import WebimageConsole

/// Gets images, of which a limited number is transferred or processed at a time.
struct SourceRun: Sendable {
    let fetcher: ImageFetcher
    let display: ProgressDisplay
    /// The maximum number of images that are transferred or processed at a time.
    let count: Int

    /// Gets the images of `sources`, and draws the display meanwhile.
    ///
    /// Throws an error if the task is canceled or nothing can be written anymore.
    func run<Sources: AsyncSequence<ImageSource, any Error> & Sendable>(_ sources: Sources) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await display.redrawRegularly()
                return false
            }
            tasks.addTask {
                let group = fetcher.loader.loadGroup(maximumActive: count)
                try await fetcher.loader.forEach(sources, in: group, weight: \.text.utf8.count) { source, slot in
                    try await get(source, slot)
                }
                return true
            }
            while let isComplete = try await tasks.next() {
                if isComplete { tasks.cancelAll() }
            }
        }
    }

    private func get(_ source: ImageSource, _ slot: LoadSlot) async throws {
        if !source.isURL { try await slot.take() }
        let id = await display.begin(source)
        let outcome = try await fetcher.get(source, slot)
        try await display.end(id, outcome)
        if let error = outcome.runEnd { throw error }
    }
}

/// The sources of the arguments, followed by those of a list.
struct ImageSources: AsyncSequence, Sendable {
    let arguments: [ImageSource]
    /// `nil` if there is no list.
    let list: BatchList?

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(arguments: arguments[...], list: list) }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var arguments: ArraySlice<ImageSource>
        fileprivate let list: BatchList?
        private var count = 0

        fileprivate init(arguments: ArraySlice<ImageSource>, list: BatchList?) {
            (self.arguments, self.list) = (arguments, list)
        }

        mutating func next() async throws -> ImageSource? {
            var source = arguments.popFirst()
            if source == nil { source = try await list?.next().map { ImageSource($0) } }
            count += 1
            source?.index = count
            return source
        }
    }
}

extension ImageSource {
    /// Creates a source from an entry of a list.
    init(_ entry: ListEntry) {
        guard let problem = entry.problem else {
            self.init(listed: entry.url ?? "")
            return
        }
        let beginning = String(decoding: entry.line.bytes.prefix(100), as: UTF8.self).withoutBlanksAround
        self.init(unusable: String(beginning) + (entry.line.count > 100 ? "..." : ""), reason: problem)
    }
}
