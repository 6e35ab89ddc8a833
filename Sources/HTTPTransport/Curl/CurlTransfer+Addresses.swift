// Which addresses a hop may have to do with.
extension CurlTransfer {
    /// What has become of the addresses of a hop's host so far.
    struct AddressCheck {
        private var refusal: NetworkPolicy.Refusal?
        private var wasAllowed = false

        /// Why addresses were passed over; nil if one was allowed.
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
        guard !usesProxy else { return true }
        guard let address else { return false }
        return addressCheck.allows(address, by: policy)
    }

    /// Returns whether the connection to `address` that was chosen, and may be an old one, may be used; otherwise aborts.
    func mayUseConnection(to address: IPAddress?, by policy: NetworkPolicy) -> Bool {
        guard !usesProxy else { return true }
        guard let address else { return false }
        return policy.refusal(of: address).map { fail(.refusedByPolicy($0)) } ?? true
    }
}
