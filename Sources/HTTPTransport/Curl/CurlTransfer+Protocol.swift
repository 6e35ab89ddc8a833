import CCurl

extension CurlTransfer {
    /// Records whether the hop's connection is shared by transfers, once that is known.
    func learnProtocol() {
        guard let connectionKey, connectionKey.isSecure, let isMultiplexed = sharesConnection else { return }
        let worker = handle.worker
        worker.state.assign { $0.learn(connectionKey, isMultiplexed: isMultiplexed, on: worker.index) }
    }

    private var sharesConnection: Bool? {
        exchange?.isShared ?? easy.map { $0.long(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }
    }
}
