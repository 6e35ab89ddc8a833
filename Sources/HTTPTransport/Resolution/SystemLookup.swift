import CCurl  // the compiler assigns the socket constants to the module that it imported first, this one or the C library
import Threading

import Glibc

/// Looks up a host with the system's resolver; blocks until there is a result.
@Sendable func systemLookup(_ host: String) throws(LookupFailure) -> [IPAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
        // If it cannot open files, the system's resolver reports that the host is unknown, or to try again.
        if OpenFileLimit.isReached { throw .tooManyOpenFiles }
        throw LookupFailure(
            message: unsafe String(cString: gai_strerror(status)),
            isTemporary: [EAI_AGAIN, EAI_MEMORY, EAI_SYSTEM].contains(status))
    }
    defer { unsafe freeaddrinfo(list) }

    var addresses: [IPAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
        if let socketAddress = unsafe entry.pointee.ai_addr, let address = unsafe IPAddress(socketAddress),
            unsafe !isOfOneLink(socketAddress)
        {
            addresses.append(address)
        }
        unsafe next = entry.pointee.ai_next
    }
    guard !addresses.isEmpty else { throw LookupFailure(message: "no addresses") }
    return addresses
}

/// Returns whether an address is valid on a single link only, which libcurl does not support.
private func isOfOneLink(_ address: UnsafePointer<sockaddr>) -> Bool {
    guard Int32(unsafe address.pointee.sa_family) == AF_INET6 else { return false }
    return unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_scope_id != 0
}

/// Returns whether `host`, as written in a URL, is an address and needs no lookup.
func isNumericAddress(_ host: String) -> Bool {
    guard let first = host.utf8.first, first != UInt8(ascii: "[") else { return true }
    guard first.isASCIIDigit else { return false }
    var address = in_addr()
    return unsafe host.withCString { unsafe inet_pton(AF_INET, $0, &address) } == 1
}
