import Threading

/// The known credentials of a transport, and the queries of its provider.
final class SharedCredentials: Sendable {
    /// The provider's answer to a query.
    typealias Answer = Result<Credential?, any Error>

    private struct State {
        var store = CredentialStore()
        /// The transfers that wait for an answer.
        var completions: [UInt64: @Sendable (Answer) -> Void] = [:]
    }

    private let state = Locked(State())
    private let provider: (any CredentialProvider)?

    init(provider: (any CredentialProvider)?) {
        self.provider = provider
    }

    /// A Boolean value that indicates whether there is a provider.
    var hasProvider: Bool { provider != nil }

    /// Returns the credential to send to the origin of `url` without a challenge.
    func credential(for url: HTTPURL) -> Credential? { state.withLock { $0.store.credential(for: url) } }

    /// Removes a credential that was refused for `key`, unless a newer one is stored.
    func forget(_ credential: Credential, for key: CredentialStore.Key) {
        state.withLock { $0.store.forget(credential, for: key) }
    }

    /// Returns the known credential for `key`; otherwise asks the provider, if that has not been done yet, and calls
    /// `completion` with the answer unless `transfer` leaves first.
    func credential(
        for key: CredentialStore.Key, challenge: CredentialChallenge, transfer: UInt64,
        completion: @escaping @Sendable (Answer) -> Void
    ) -> Credential? {
        state.withLock { state in
            if let known = state.store.credential(for: key) { return known }
            state.completions[transfer] = completion
            guard let id = state.store.wait(transfer, for: key) else { return nil }
            state.store.attach(Task { await self.ask(challenge, for: key, id) }, to: key)
            return nil
        }
    }

    /// Removes a waiting transfer; cancels the query if no transfer waits for it anymore.
    func leave(_ transfer: UInt64, _ key: CredentialStore.Key) {
        let query = state.withLock { state in
            state.completions[transfer] = nil
            return state.store.leave(transfer, key)
        }
        // Not under the lock: the provider's cancellation handlers run now.
        query?.cancel()
    }

    private func ask(_ challenge: CredentialChallenge, for key: CredentialStore.Key, _ id: Int) async {
        let answer: Answer
        do {
            answer = .success(try await provider?.credential(for: challenge))
        } catch {
            answer = .failure(error)
        }
        let completions = state.withLock { state in
            let waiting = state.store.finishQuery(key, id)
            if !waiting.isEmpty, case .success(let credential?) = answer { state.store.remember(credential, for: key) }
            return waiting.sorted().compactMap { state.completions.removeValue(forKey: $0) }
        }
        for completion in completions { completion(answer) }
    }
}
