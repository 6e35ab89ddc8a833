/// The streams of one download's progress: each consumer gets the newest state, however slow it is.
struct ProgressWatchers {
    private var streams: [CallerID: [AsyncStream<DownloadProgress>.Continuation]] = [:]

    var isEmpty: Bool { streams.isEmpty }
    var all: [AsyncStream<DownloadProgress>.Continuation] { streams.values.flatMap(\.self) }

    mutating func insert(_ stream: AsyncStream<DownloadProgress>.Continuation, of id: CallerID) {
        streams[id, default: []].append(stream)
    }

    /// Removes one stream of a caller.
    mutating func remove(_ stream: AsyncStream<DownloadProgress>.Continuation, of id: CallerID) {
        streams[id]?.removeAll { $0 == stream }
        if streams[id]?.isEmpty == true { streams[id] = nil }
    }

    /// Removes and returns all streams of a caller.
    mutating func remove(_ id: CallerID) -> [AsyncStream<DownloadProgress>.Continuation] {
        streams.removeValue(forKey: id) ?? []
    }

    mutating func removeAll() -> [AsyncStream<DownloadProgress>.Continuation] {
        defer { streams = [:] }
        return all
    }
}
