import COpenSSL
import Glibc
import Hashing
import Testing

/// The end of a process that computes digests, in processes of their own.
@Suite(.timeLimit(.minutes(2)))
struct ExitTests {
    /// Another thread can be in the middle of a digest.
    @Test func exitOfAProcessDoesNotFreeWhatDigestsUse() async {
        await #expect(processExitsWith: .exitCode(3)) {
            _ = try MessageDigest(.sha256)
            // Called by OpenSSL when it frees what it has allocated.
            #expect(OPENSSL_atexit { _exit(4) } == 1)
            exit(3)
        }
    }

    @Test func exitOfAProcessDoesNotFreeWhatHashesUse() async {
        await #expect(processExitsWith: .exitCode(3)) {
            _ = SHA256.hash("")
            #expect(OPENSSL_atexit { _exit(4) } == 1)
            exit(3)
        }
    }
}
