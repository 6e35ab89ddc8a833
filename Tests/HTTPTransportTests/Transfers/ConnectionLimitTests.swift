import Testing

@testable import HTTPTransport

struct ConnectionLimitTests {
    @Test(arguments: [
        (nil, 1_024, 512), (nil, 8, 4), (nil, 1, 1), (nil, 0, 1), (30, 1_024, 30), (2_000, 256, 256), (0, 9, 1),
    ])
    func connectionLimitIsConfiguredOrHalfOfDescriptorLimit(configured: Int?, openFiles: Int, expected: Int) {
        let limit = ConnectionLimit(configured, openFileLimit: openFiles)
        #expect(limit.maximum == expected)
        #expect(limit.current == expected)
    }

    @Test func connectionLimitDropsToOpenOnesWhenDescriptorsRunOut() {
        var limit = ConnectionLimit(10, openFileLimit: 1_024)
        let mayTry = limit.ranOut(whileOpen: 4)
        #expect(mayTry)
        #expect(limit.current == 4)
        _ = limit.ranOut(whileOpen: 7)
        #expect(limit.current == 4, "it never rises by running out")
    }

    @Test func connectionLimitIsKeptIfNoConnectionIsOpen() {
        var limit = ConnectionLimit(10, openFileLimit: 1_024)
        let mayTry = limit.ranOut(whileOpen: 0)
        #expect(!mayTry)
        #expect(limit.current == 10)
    }

    @Test func connectionLimitRisesByOneWithEverySuccess() {
        var limit = ConnectionLimit(3, openFileLimit: 1_024)
        _ = limit.ranOut(whileOpen: 1)
        let changes = (0..<4).map { _ in limit.succeeded() }
        #expect(changes == [true, true, false, false])
        #expect(limit.current == 3)
    }
}
