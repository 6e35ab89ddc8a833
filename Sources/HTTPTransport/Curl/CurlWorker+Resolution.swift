// Name resolution, unless a proxy resolves names.
extension CurlWorker {
    /// Resolves the host's addresses, then submits the transfer.
    func resolve(_ transfer: ActiveTransfer) {
        let url = transfer.request.url
        let proxy = state.configuration.proxy.proxy(for: url)
        if let refusal = state.policy?.refusal(of: url, throughProxy: proxy != nil) {
            return finish(transfer, .failed(TransportError(url: url.string, reason: .refusedByPolicy(refusal))))
        }
        transfer.usesProxy = proxy != nil
        // A proxy resolves names itself.
        if proxy != nil || isNumericAddress(url.host) { return submit(transfer, addresses: nil, proxy: proxy) }
        if let answer = state.dnsCache.cachedResult(for: url.host) { return proceed(transfer, answer) }
        let id = transfer.handle.id
        transfer.awaited = .addresses(of: url.host)
        state.dnsCache.resolve(url.host, for: id) { [weak self] answer in
            self?.send(.resolved(id, host: url.host, answer))
        }
    }

    /// Continues a transfer whose host has been looked up.
    func resolved(_ id: UInt64, _ host: String, _ answer: DNSCache.Answer) {
        guard let transfer = transfers[id], transfer.awaited == .addresses(of: host) else { return }
        transfer.awaited = nil
        transfer.resolved = transfer.start.duration(to: .now)
        proceed(transfer, answer)
    }

    private func proceed(_ transfer: ActiveTransfer, _ answer: DNSCache.Answer) {
        switch answer {
        case .success(let addresses):
            submit(transfer, addresses: addresses, proxy: nil)
        case .failure(.tooManyOpenFiles):
            finish(
                transfer,
                .failed(TransportError(url: transfer.request.url.string, reason: .tooManyOpenFiles)))
        case .failure(let failure):
            let url = transfer.request.url
            finish(
                transfer,
                .failed(
                    TransportError(
                        url: url.string, reason: failure.isTemporary ? .lookupFailed : .hostNotFound,
                        detail: "\(url.host): \(failure.message)")))
        }
    }
}
