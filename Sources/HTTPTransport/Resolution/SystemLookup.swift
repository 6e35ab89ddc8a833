#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Why a host has no address, in the system's words.
struct LookupFailure: Error, Sendable {
    let message: String
}

/// Asks the system's resolver, which blocks until it has an answer.
@Sendable func systemLookup(_ host: String) -> Result<[String], LookupFailure> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    #if canImport(Darwin)
    hints.ai_socktype = SOCK_STREAM
    #else
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    unsafe hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
        return .failure(LookupFailure(message: unsafe String(cString: gai_strerror(status))))
    }
    defer { unsafe freeaddrinfo(list) }

    var addresses: [String] = []
    var next = unsafe list
    while let entry = unsafe next, addresses.count < 16 {
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.pointee.ai_addr, entry.pointee.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
        let address = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // One that is good on one link only cannot be handed to libcurl.
        if status == 0, !address.contains("%") { addresses.append(address) }
        unsafe next = entry.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(LookupFailure(message: "no addresses")) : .success(addresses)
}

/// Whether `host`, as it stands in a URL, is an address itself and needs no lookup.
func isNumericAddress(_ host: String) -> Bool {
    guard let first = host.utf8.first, first != UInt8(ascii: "[") else { return true }
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    var address = in_addr()
    return unsafe host.withCString { unsafe inet_pton(AF_INET, $0, &address) } == 1
}
