// The network policy applied to the addresses of a hop.
extension CurlExchange {
    /// The result of the checks of the addresses of a hop's host.
    struct AddressCheck {
        private var refusal: NetworkPolicy.Refusal?
        private var wasAllowed = false

        /// The reason why all addresses were refused; `nil` if one was allowed.
        var refusalOfAll: NetworkPolicy.Refusal? { wasAllowed ? nil : refusal }

        fileprivate mutating func allows(_ address: IPAddress, by policy: NetworkPolicy) -> Bool {
            if let found = policy.refusal(of: address) {
                refusal = refusal ?? found
                return false
            }
            wasAllowed = true
            return true
        }
    }

    /// Returns whether a connection to `address` may be opened.
    func mayConnect(to address: IPAddress?, by policy: NetworkPolicy) -> Bool {
        guard !transfer.usesProxy else { return true }
        guard let address else { return false }
        return addressCheck.allows(address, by: policy)
    }

    /// Returns whether the chosen connection to `address`, which can be a reused one, may be used; otherwise aborts
    /// the transfer.
    func mayUseConnection(to address: IPAddress?, by policy: NetworkPolicy) -> Bool {
        guard !transfer.usesProxy else { return true }
        guard let address else { return false }
        return policy.refusal(of: address).map { transfer.fail(.refusedByPolicy($0)) } ?? true
    }
}
