import HTTPTypes

// Answers to challenges: once with the request's own credential, or with the provider's.
extension CurlTransport {
    /// Uses the credential that the origin accepted before.
    func findCredential(for transfer: CurlTransfer) {
        guard transfer.mayAskProvider, let known = credentialStore.credential(for: transfer.request.url) else { return }
        transfer.begin(with: known)
    }

    /// Handles a 401 that libcurl could not answer.
    func answer(_ head: RawResponseHead, to transfer: CurlTransfer) {
        let challenges = Challenges(head.response.headerFields[values: .wwwAuthenticate])
        let url = transfer.request.url
        let key = CredentialStore.Key(origin: CredentialStore.origin(of: url), realm: challenges.realm)
        if let refused = transfer.provided { credentialStore.forget(refused, for: key) }
        guard transfer.mayAskProvider, !transfer.isFreshlyProvided, let provider = configuration.credentialProvider
        else {
            return refuse(transfer, challenges.summary)
        }
        if let known = credentialStore.credential(for: key) {
            // The query was answered for another transfer, possibly long ago.
            return retry(transfer, with: known, isNew: transfer.provided != nil)
        }
        transfer.enter(.paused)
        transfer.awaitedCredentialKey = key
        guard let id = credentialStore.wait(transfer.handle.id, for: key) else { return }
        let challenge = CredentialChallenge(
            url: url, realm: challenges.realm, schemes: challenges.schemes, refused: transfer.provided)
        let task = Task { [weak self] in
            let answer: Result<Credential?, any Error>
            do {
                answer = .success(try await provider.credential(for: challenge))
            } catch {
                answer = .failure(error)
            }
            await self?.take(answer, for: key, id)
        }
        credentialStore.attach(task, to: key)
    }

    private func take(_ answer: Result<Credential?, any Error>, for key: CredentialStore.Key, _ id: Int) {
        let waiting = credentialStore.finishQuery(key, id)
        if !waiting.isEmpty, case .success(let credential?) = answer { credentialStore.remember(credential, for: key) }
        for transfer in waiting.sorted().compactMap({ transfers[$0] }) {
            transfer.awaitedCredentialKey = nil
            switch answer {
            case .success(let credential?):
                retry(transfer, with: credential, isNew: true)
            case .success(nil):
                transfer.deliverChallenge()
                finish(transfer, transfer.outcomeWithoutBody())
            case .failure(let error):
                refuse(transfer, "\(error)")
            }
        }
    }

    private func retry(_ transfer: CurlTransfer, with credential: Credential, isNew: Bool) {
        transfer.begin(with: credential, isNew: isNew)
        resolve(transfer)
    }

    private func refuse(_ transfer: CurlTransfer, _ detail: String) {
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
