import Glibc
import Testing
import Threading

@Suite
struct OpenFileLimitTests {
    @Test func freeDescriptorsAreThoseThatAreNotOpen() async {
        // In a process where nothing else opens files.
        await #expect(processExitsWith: .success) {
            OpenFileLimit.set(min(OpenFileLimit.current, 5_000))
            let limit = OpenFileLimit.current
            func isFree(_ descriptor: Int) -> Bool { fcntl(Int32(descriptor), F_GETFD) < 0 }
            for most in [0, 1, 100, 4_096, 4_097, .max] {
                let expected = (0..<min(most, limit)).count(where: isFree)
                try #require(OpenFileLimit.free(below: most) == expected)
            }
            let free = OpenFileLimit.free()
            let descriptor = open("/dev/null", O_RDONLY)
            try #require(descriptor >= 0)
            try #require(OpenFileLimit.free() == free - 1)
            close(descriptor)
            try #require(OpenFileLimit.free() == free)
            try #require(OpenFileLimit.free(below: -1) == 0)
        }
    }
}
