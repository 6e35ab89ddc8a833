import COpenSSL
import Glibc
import Testing

@testable import HTTPTransport

/// The end of a process that uses TLS, in processes of their own.
@Suite(.timeLimit(.minutes(2)))
struct ExitTests {
    /// A thread of the transport can be in the middle of a handshake, and would crash.
    @Test func exitOfAProcessDoesNotFreeWhatTLSUses() async {
        await #expect(processExitsWith: .exitCode(3)) {
            _ = try await CurlTransport(configuration: .init(proxy: .none)).fetch("https://127.0.0.1:1/")
            // Called by OpenSSL when it frees what it has allocated.
            #expect(OPENSSL_atexit { _exit(4) } == 1)
            exit(3)
        }
    }
}
