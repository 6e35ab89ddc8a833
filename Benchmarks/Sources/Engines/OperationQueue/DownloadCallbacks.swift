import Foundation
import ImageCodecs

/// The blocks of one caller; the object's identity is its cancellation token.
final class DownloadCallbacks: Sendable {
    typealias Progress = @Sendable (_ received: Int, _ expected: Int) -> Void
    typealias Completed =
        @Sendable (
            _ image: PixelBuffer?, _ data: Data?, _ error: (any Error)?, _ finished: Bool
        ) -> Void

    let progress: Progress?
    let completed: Completed

    init(progress: Progress?, completed: @escaping Completed) {
        self.progress = progress
        self.completed = completed
    }
}

/// All callers of one operation, behind a concurrent queue that is written to through barriers.
///
/// `@unchecked Sendable`: `callbacks` and `isClosed` are read on `barrierQueue` and written in barriers of it.
final class DownloadCallbackTable: @unchecked Sendable {
    private let barrierQueue = DispatchQueue(label: "download-callbacks", attributes: .concurrent)
    private var callbacks: [DownloadCallbacks]
    private var isClosed = false

    init(_ first: DownloadCallbacks) {
        callbacks = [first]
    }

    /// The callers of this moment, in the order of their coming.
    var current: [DownloadCallbacks] { barrierQueue.sync { callbacks } }

    /// Adds a caller, unless the last word has been said: the original would leave that caller waiting for ever.
    func add(_ added: DownloadCallbacks) -> Bool {
        barrierQueue.sync(flags: .barrier) {
            if !isClosed { callbacks.append(added) }
            return !isClosed
        }
    }

    /// Removes a caller, and closes the table and returns true if no other is left.
    func remove(_ removed: DownloadCallbacks) -> Bool {
        barrierQueue.sync(flags: .barrier) {
            callbacks.removeAll { $0 === removed }
            if callbacks.isEmpty { isClosed = true }
            return callbacks.isEmpty
        }
    }

    /// Takes out all callers, for the last word.
    func close() -> [DownloadCallbacks] {
        barrierQueue.sync(flags: .barrier) {
            isClosed = true
            defer { callbacks = [] }
            return callbacks
        }
    }
}
