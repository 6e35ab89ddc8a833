import HTTPTypes

// Answers to challenges: once with the request's own credential, or with the provider's.
extension CurlWorker {
    /// Uses the credential that the origin accepted before.
    func findCredential(for transfer: ActiveTransfer) {
        guard transfer.mayAskProvider, let known = state.credentials.credential(for: transfer.request.url) else {
            return
        }
        transfer.begin(with: .init(credential: known, isFresh: false))
    }

    /// Handles a 401 that libcurl could not answer.
    func answer(_ head: RawResponseHead, to transfer: ActiveTransfer) {
        let challenges = Challenges(head.response.headerFields[values: .wwwAuthenticate])
        let url = transfer.request.url
        let key = CredentialStore.Key(origin: url.origin, realm: challenges.realm)
        let refused = transfer.provided?.credential
        if let refused { state.credentials.forget(refused, for: key) }
        guard transfer.mayAskProvider, transfer.provided?.isFresh != true else {
            return refuse(transfer, challenges.summary)
        }
        let challenge = CredentialChallenge(
            url: url, realm: challenges.realm, schemes: challenges.schemes, refused: refused)
        let id = transfer.handle.id
        transfer.awaited = .credential(key)
        let known = state.credentials.credential(for: key, challenge: challenge, transfer: id) { [weak self] answer in
            self?.send(.answered(id, key, answer))
        }
        if let known {
            // The query was answered for another transfer, possibly long ago.
            transfer.awaited = nil
            retry(transfer, with: known, isFresh: refused != nil)
        } else {
            transfer.enter(.paused)
        }
    }

    /// Continues a transfer for which the provider has been asked.
    func answered(_ id: UInt64, _ key: CredentialStore.Key, _ answer: SharedCredentials.Answer) {
        guard let transfer = transfers[id], transfer.awaited == .credential(key) else { return }
        transfer.awaited = nil
        switch answer {
        case .success(let credential?):
            retry(transfer, with: credential, isFresh: true)
        case .success(nil):
            transfer.deliverChallenge()
            finish(transfer, transfer.outcomeWithoutBody())
        case .failure(let error):
            refuse(transfer, "\(error)")
        }
    }

    private func retry(_ transfer: ActiveTransfer, with credential: Credential, isFresh: Bool) {
        transfer.begin(with: .init(credential: credential, isFresh: isFresh))
        resolve(transfer)
    }

    private func refuse(_ transfer: ActiveTransfer, _ detail: String) {
        finish(
            transfer,
            .failed(
                TransportError(
                    url: transfer.request.url.string, reason: .authenticationFailed,
                    detail: detail.isEmpty ? nil : String(detail.prefix(200)))))
    }
}

extension Challenges {
    /// A short description of the challenge.
    fileprivate var summary: String {
        let ways = schemes.joined(separator: ", ")
        return realm.map { "\(ways) for \"\($0)\"" } ?? ways
    }
}
