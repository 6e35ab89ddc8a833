import CCurl

extension CurlTransfer {
    /// Records whether the hop's connection is shared by transfers, once a response has arrived on it.
    func learnProtocol() {
        guard let connectionKey, connectionKey.isSecure, let easy else { return }
        let worker = handle.worker
        let isMultiplexed = easy.long(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)
        worker.state.assign { $0.learn(connectionKey, isMultiplexed: isMultiplexed, on: worker.index) }
    }
}
