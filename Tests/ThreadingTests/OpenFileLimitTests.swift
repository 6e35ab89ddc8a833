import Glibc
import Testing
import Threading

@Suite
struct OpenFileLimitTests {
    @Test func freeDescriptorsAreThoseThatAreNotOpen() async {
        await #expect(processExitsWith: .success) {
            OpenFileLimit.set(min(OpenFileLimit.current, 5_000))
            let limit = OpenFileLimit.current
            func isFree(_ descriptor: Int) -> Bool { fcntl(Int32(descriptor), F_GETFD) < 0 }
            for most in [0, 1, 100, 4_096, 4_097, .max] {
                // Threads of the test library can open and close a file in between.
                let isEqual = (0..<100).contains { _ in
                    (0..<min(most, limit)).count(where: isFree) == OpenFileLimit.free(below: most)
                }
                try #require(isEqual)
            }
            try #require(OpenFileLimit.free(below: -1) == 0)
        }
    }
}
