import CCurl

extension CurlTransfer {
    /// Returns the metrics; valid while the transfer still has its connection.
    func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.nameLookupDuration = resolved
        metrics.totalDuration = start.duration(to: .now)
        metrics.bodyBytes = delivered.bodyBytes
        metrics.redirectCount = redirectCount
        if let exchange {
            if let firstByte = exchange.firstByte { metrics.timeToFirstByte = start.duration(to: firstByte) }
            metrics.reusedConnection = exchange.reusesConnection
            if let new = exchange.newConnection {
                metrics.connectDuration = start.duration(to: new.connected)
                metrics.tlsDuration = new.secured.map(start.duration) ?? .zero
            }
            metrics.protocolName = exchange.protocolName
        }
        guard let easy else { return metrics }
        // libcurl counts from the start of the last hop.
        let hop = metrics.totalDuration - easy.time(CURLINFO_TOTAL_TIME_T)
        metrics.timeToFirstByte = hop + easy.time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.reusedConnection = easy.long(CURLINFO_NUM_CONNECTS) == 0
        if !metrics.reusedConnection {
            metrics.connectDuration = hop + easy.time(CURLINFO_CONNECT_TIME_T)
            let secured = easy.time(CURLINFO_APPCONNECT_TIME_T)
            metrics.tlsDuration = secured > .zero ? hop + secured : .zero
        }
        switch easy.long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): metrics.protocolName = "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_2_0): metrics.protocolName = "HTTP/2"
        default: metrics.protocolName = "HTTP/1.1"
        }
        return metrics
    }
}
