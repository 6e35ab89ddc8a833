import HTTPTypes
import SocketPolling

// The limit of connections, which libcurl applies only to those that it uses itself.
extension CurlWorker {
    /// Returns whether another connection may be opened, by libcurl or instead of one of its idle ones; closes an idle
    /// connection of this module if that is necessary.
    func mayOpenConnection() -> Bool {
        multi.detachedCount = pool.count
        guard thread.poller.connectionCount >= multi.connectionLimit else { return true }
        if pool.closeOldestIdle() { multi.detachedCount = pool.count }
        return pool.count < multi.connectionLimit
    }

    /// Continues `transfer` when another connection may be opened, or one is idle.
    func waitForConnection(_ transfer: ActiveTransfer) {
        waitingForConnection.append(transfer.handle.id)
    }

    /// Takes back the transfers for which libcurl must not open a connection anymore.
    func pauseConnecting() {
        guard pool.count >= multi.connectionLimit else { return }
        for transfer in transfers.values.filter(\.waitsForSocket).sorted(by: { $0.handle.id < $1.handle.id }) {
            recycle(transfer)
            waitForConnection(transfer)
        }
    }

    /// Continues the transfers that wait for a connection, as far as possible.
    func continueWaiting() {
        multi.detachedCount = pool.count
        while let id = pool.takeReleased() {
            if let transfer = transfers[id], transfer.endWaitForPlace() || transfer.waitsForConnection {
                resolve(transfer)
            }
        }
        if !waitingForConnection.isEmpty {
            // No more than can have a connection: libcurl would let the others wait, and they would be taken back.
            var pendingCount = transfers.values.count(where: \.waitsForSocket)
            while let id = waitingForConnection.first, pool.hasIdle || mayPass(toLibcurlAfter: pendingCount) {
                waitingForConnection.removeFirst()
                guard let transfer = transfers[id], transfer.waitsForConnection else { continue }
                resolve(transfer)
                if transfer.waitsForSocket { pendingCount += 1 }
            }
        }
        continueSharing()
        continuePending()
    }

    /// Continues transfers that wait for a connection of their own, and can share one instead.
    private func continueSharing() {
        let connections = pool.takeRoomy()
        guard !connections.isEmpty,
            !waitingForConnection.isEmpty || thread.poller.connectionCount >= multi.connectionLimit
        else { return }
        let waiting = waitingForConnection.compactMap { transfers[$0] }
        let pending = transfers.values.filter(\.waitsForSocket).sorted { $0.handle.id < $1.handle.id }
        for transfer in waiting + pending where transfer.waitsForConnection || transfer.waitsForSocket {
            guard let key = transfer.poolKey,
                connections.contains(where: { $0.key == key && $0.mayHaveRoom(for: transfer) })
            else { continue }
            waitingForConnection.removeAll { $0 == transfer.handle.id }
            recycle(transfer)
            resolve(transfer)
        }
    }

    /// Returns whether libcurl may get another transfer while `pendingCount` transfers wait for a socket there.
    ///
    /// It gets at least one, because it can close idle connections of its own.
    private func mayPass(toLibcurlAfter pendingCount: Int) -> Bool {
        let limit = multi.connectionLimit
        return pool.count < limit && pendingCount < max(1, limit - thread.poller.connectionCount)
    }

    /// Continues transfers that libcurl lets wait, because it does not know that they can use idle connections of this
    /// module, or the places of those that have been closed or added.
    private func continuePending() {
        var placeCount = pool.takeClosedCount() + multi.takeRaiseCount()
        guard placeCount > 0 || pool.hasIdle,
            thread.poller.connectionCount + placeCount >= multi.connectionLimit
        else { return }
        let pending = transfers.values.filter(\.waitsForSocket).sorted { $0.handle.id < $1.handle.id }
        for transfer in pending where transfer.waitsForSocket {
            guard placeCount > 0 || pool.hasIdle else { return }
            placeCount -= 1
            recycle(transfer)
            resolve(transfer)
        }
    }
}

extension ActiveTransfer {
    /// Returns the key of the connections over which this module sends the request itself; `nil` if libcurl must do it:
    /// for challenges, cookies, IPv6 zones, unprintable URLs, http URLs through proxies, and proxies with TLS.
    func keyInPool(proxy: String?) -> ConnectionKey? {
        let url = request.url
        guard credential?.isNegotiated != true, !request.handlesCookies, request.method != .connect, url.zone == nil,
            url.isPrintable
        else { return nil }
        if let proxy, !url.isSecure || proxy.lowercased().hasPrefix("https:") { return nil }
        return ConnectionKey(url, proxy: proxy)
    }
}
