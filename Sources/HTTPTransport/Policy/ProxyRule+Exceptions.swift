extension ProxyRule {
    /// Returns whether `list`, the value of `no_proxy`, contains an entry for `url`.
    ///
    /// Entries are separated by commas or spaces. Addresses match hosts that are addresses, regardless of their
    /// notation; names are not resolved.
    static func isExcepted(_ url: HTTPURL, by list: String) -> Bool {
        let address = IPAddress(urlHost: url.host)
        let name = url.host.hasSuffix(".") ? url.host.dropLast() : url.host[...]
        return list.split { $0 == "," || $0 == " " }.contains { entry in
            if entry == "*" { return true }
            guard let (host, port) = parts(entry.lowercased()), port == nil || port == url.port else { return false }
            if let address { return AddressRange(host)?.contains(address) == true }
            return !host.isEmpty && (name == host || name.hasSuffix(".\(host)"))
        }
    }

    /// Returns the host and port of an entry; `nil` if the part after the host is not a port.
    private static func parts(_ entry: String) -> (host: String, port: Int?)? {
        var host = entry[...]
        var rest = Substring()
        if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
            host = entry[..<end].dropFirst()
            rest = entry[end...].dropFirst()
        } else if let colon = entry.firstIndex(of: ":"), colon == entry.lastIndex(of: ":") {
            // An IPv6 address contains at least two colons.
            host = entry[..<colon]
            rest = entry[colon...]
        }
        while host.hasPrefix(".") { host.removeFirst() }
        if host.hasSuffix(".") { host.removeLast() }
        guard !rest.isEmpty else { return (String(host), nil) }
        guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()) else { return nil }
        return (String(host), port)
    }
}
