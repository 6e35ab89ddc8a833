/// The streams of one download's progress: each consumer gets the newest state, however slow it is.
struct ProgressWatchers {
    /// A state of the progress, and the streams to which it must be sent.
    struct Notification {
        fileprivate let streams: [AsyncStream<DownloadProgress>.Continuation]
        fileprivate let progress: DownloadProgress

        func send() {
            for stream in streams { stream.yield(progress) }
        }
    }

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

    /// Returns the notification of a state; `nil` if there are no streams.
    func notification(of progress: DownloadProgress) -> Notification? {
        isEmpty ? nil : Notification(streams: all, progress: progress)
    }

    mutating func removeAll() -> [AsyncStream<DownloadProgress>.Continuation] {
        defer { streams = [:] }
        return all
    }
}
