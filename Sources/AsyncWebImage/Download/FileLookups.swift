/// A file that callers wait for.
struct FileKey: Sendable, Hashable {
    let fetch: FetchKey
    let identity: FileIdentity
}

/// The callers for whose files the response cache is being asked, once for all callers of a file.
///
/// Their requests wait for the answer, and with them all later messages about these callers.
struct FileLookups {
    private var messages: [FileKey: [CoordinatorMessage]] = [:]
    private var files: [Subscriber.ID: FileKey] = [:]

    /// The number of waiting callers.
    var callerCount: Int { files.count }

    /// The waiting callers, unordered.
    var callers: [Subscriber] { messages.values.joined().compactMap(\.request) }

    /// Returns whether a file is being looked up.
    func contains(_ file: FileKey) -> Bool { !messages.isEmpty && messages[file] != nil }

    /// Adds a caller, for the first of whom the lookup must be started.
    mutating func add(_ caller: Subscriber, waitingFor file: FileKey) {
        files[caller.id] = file
        messages[file, default: []].append(.join(caller))
    }

    /// Keeps a message about a caller that waits; returns `false` for other messages.
    mutating func keep(_ message: CoordinatorMessage) -> Bool {
        guard !files.isEmpty, let file = message.laterCaller.flatMap({ files[$0] }) else { return false }
        messages[file]?.append(message)
        return true
    }

    /// Ends a lookup; returns the requests and the other messages of its callers, in order.
    mutating func end(_ file: FileKey) -> [CoordinatorMessage] {
        let ended = messages.removeValue(forKey: file) ?? []
        for caller in ended.compactMap(\.request) { files[caller.id] = nil }
        return ended
    }
}

extension CoordinatorMessage {
    /// The caller, if the message is its request.
    fileprivate var request: Subscriber? {
        if case .join(let caller) = self { caller } else { nil }
    }

    /// The caller that the message is about, if it follows the request, and is handled only after it.
    ///
    /// A cancellation has its effect before: a request that it precedes is dropped.
    fileprivate var laterCaller: Subscriber.ID? {
        switch self {
        case .watch(let id, _), .stopWatching(let id, _), .event(.prioritize(let id, _)): id
        default: nil
        }
    }
}
