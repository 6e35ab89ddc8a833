import Hashing
import Threading

/// The position of a reader in a body.
struct BodyPosition: Sendable, Hashable {
    /// The number of times that the body has started over.
    let restarts: Int
    /// The number of bytes before the position.
    let count: Int
}

/// A digest of one body, computed once for all readers that need it.
///
/// Each reader adds the bytes that it has read; bytes that another reader has already added are skipped. Any reader that
/// has read the whole body can therefore get the digest.
final class SharedDigest: Sendable {
    private final class State {
        var digest: MessageDigest?
        /// The number of restarts of the body before the added bytes.
        var restarts = 0
        /// The number of bytes added.
        var count = 0
        var value: BodyDigest?

        func begin(_ algorithm: DigestAlgorithm) throws(UnavailableDigest) {
            if digest == nil { digest = try MessageDigest(algorithm) }
        }
    }

    let algorithm: BodyDigest.Algorithm
    private let state = Locked(State())

    init(_ algorithm: BodyDigest.Algorithm) {
        self.algorithm = algorithm
    }

    /// Adds pieces that a reader has read one after another, the last one up to `end`.
    func add(_ pieces: [[UInt8]], upTo end: BodyPosition) throws(ImageError) {
        var offset = end.count - pieces.reduce(0) { $0 + $1.count }
        for piece in pieces {
            try add(piece, at: BodyPosition(restarts: end.restarts, count: offset))
            offset += piece.count
        }
    }

    /// Locks for one piece at a time, so that other readers need not wait long.
    private func add(_ piece: [UInt8], at start: BodyPosition) throws(ImageError) {
        try use { state throws(UnavailableDigest) in
            if start.restarts > state.restarts {
                try state.digest?.reset()
                (state.restarts, state.count, state.value) = (start.restarts, 0, nil)
            }
            // A reader that has not detected the restart yet adds void bytes, and the last reader known ones.
            guard start.restarts == state.restarts, start.count <= state.count,
                state.count < start.count + piece.count
            else { return }
            try state.begin(algorithm.implementation)
            state.digest?.update(piece.span.extracting((state.count - start.count)...))
            state.count = start.count + piece.count
        }
    }

    /// Returns the digest of the whole body, all of which has been added.
    func value() throws(ImageError) -> BodyDigest? {
        try use { state throws(UnavailableDigest) in
            try state.begin(algorithm.implementation)
            if state.value == nil, let bytes = try state.digest?.finish() {
                state.value = BodyDigest(algorithm, bytes: bytes)
            }
            return state.value
        }
    }

    private func use<Result: Sendable>(
        _ body: (State) throws(UnavailableDigest) -> Result
    ) throws(ImageError) -> Result {
        do throws(UnavailableDigest) {
            return try state.withLock { state throws(UnavailableDigest) in try body(state) }
        } catch {
            throw .unavailableDigest(algorithm)
        }
    }
}

/// The digests of one body, by algorithm.
struct SharedDigests {
    private var digests: [BodyDigest.Algorithm: SharedDigest] = [:]

    /// Returns the digest of an algorithm, which is created with its first use.
    subscript(algorithm: BodyDigest.Algorithm) -> SharedDigest {
        mutating get {
            if let digest = digests[algorithm] { return digest }
            let digest = SharedDigest(algorithm)
            digests[algorithm] = digest
            return digest
        }
    }
}
