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

/// The callers of an operation, behind a concurrent queue on which they are changed in barriers.
///
/// `@unchecked Sendable`: `callbacks` and `isClosed` are read on `barrierQueue` and written in its barriers.
final class DownloadCallbackTable: @unchecked Sendable {
    private let barrierQueue = DispatchQueue(label: "download-callbacks", attributes: .concurrent)
    private var callbacks: [DownloadCallbacks]
    private var isClosed = false

    init(_ first: DownloadCallbacks) {
        callbacks = [first]
    }

    /// The current callers, in the order in which they joined.
    var current: [DownloadCallbacks] { barrierQueue.sync { callbacks } }

    /// Adds a caller and returns `true`, or returns `false` if the table is closed.
    ///
    /// The original would add the caller anyway, which would then wait forever.
    func add(_ added: DownloadCallbacks) -> Bool {
        barrierQueue.sync(flags: .barrier) {
            if !isClosed { callbacks.append(added) }
            return !isClosed
        }
    }

    /// Removes a caller; if no other is left, closes the table and returns `true`.
    func remove(_ removed: DownloadCallbacks) -> Bool {
        barrierQueue.sync(flags: .barrier) {
            callbacks.removeAll { $0 === removed }
            if callbacks.isEmpty { isClosed = true }
            return callbacks.isEmpty
        }
    }

    /// Closes the table, and removes and returns all callers.
    func close() -> [DownloadCallbacks] {
        barrierQueue.sync(flags: .barrier) {
            isClosed = true
            defer { callbacks = [] }
            return callbacks
        }
    }
}
