import HTTPTypes
import SocketPolling

// The limit of connections, which libcurl applies only to those that it uses itself.
extension CurlWorker {
    /// Returns whether another connection may be opened, by libcurl or instead of one of its idle ones; closes an idle
    /// connection of this module if that is necessary.
    func mayOpenConnection() -> Bool {
        multi.detachedCount = http1.count
        guard thread.poller.connectionCount >= multi.connectionLimit else { return true }
        if http1.closeOldestIdle() { multi.detachedCount = http1.count }
        return http1.count < multi.connectionLimit
    }

    /// Continues `transfer` when another connection may be opened, or one is idle.
    func waitForConnection(_ transfer: CurlTransfer) {
        waitingForConnection.append(transfer.handle.id)
    }

    /// Takes back the transfers for which libcurl must not open a connection anymore.
    func pauseConnecting() {
        guard http1.count >= multi.connectionLimit else { return }
        for transfer in transfers.values.filter(\.waitsForSocket).sorted(by: { $0.handle.id < $1.handle.id }) {
            recycle(transfer)
            waitForConnection(transfer)
        }
    }

    /// Continues the transfers that wait for a connection, as far as possible.
    func continueWaiting() {
        multi.detachedCount = http1.count
        while let id = waitingForConnection.first, http1.hasIdle || http1.count < multi.connectionLimit {
            waitingForConnection.removeFirst()
            if let transfer = transfers[id], transfer.waitsForConnection { resolve(transfer) }
        }
        continuePending()
    }

    /// Continues a transfer that libcurl lets wait, because libcurl does not know that the transfer can use an idle
    /// connection of this module, or the place of one that has been closed.
    private func continuePending() {
        let (count, limit) = (thread.poller.connectionCount, multi.connectionLimit)
        let mayContinue = http1.takeHasClosed() ? count >= limit - 1 : http1.hasIdle && count >= limit
        guard mayContinue,
            let transfer = transfers.values.filter(\.waitsForSocket).min(by: { $0.handle.id < $1.handle.id })
        else { return }
        recycle(transfer)
        resolve(transfer)
    }
}

extension CurlTransfer {
    /// Returns the key of the connections over which this module sends the request itself; `nil` if libcurl must do it,
    /// for TLS and thereby HTTP/2, proxies, credentials, and cookies.
    func keyOfOwnConnection(proxy: String?) -> ConnectionKey? {
        let url = request.url
        guard proxy == nil, !url.isSecure, credential == nil, !request.handlesCookies, request.method != .connect,
            // A zone is part of the address only on this machine.
            !url.host.utf8.contains(UInt8(ascii: "%")), url.isPrintable
        else { return nil }
        return ConnectionKey(url, proxy: nil)
    }
}
