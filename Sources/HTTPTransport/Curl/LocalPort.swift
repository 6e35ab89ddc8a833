#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Returns the local port of a TCP socket, or -1 if it is unknown.
func localPort(of descriptor: Int32) -> Int {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let status = unsafe withUnsafeMutableBytes(of: &address) { bytes in
        unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
            unsafe getsockname(descriptor, address.baseAddress, &length)
        }
    }
    // The port has the same offset in the addresses of both versions.
    return status == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : -1
}
