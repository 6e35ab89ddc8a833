import Foundation

/// A terminal to which a command writes.
final class TestTerminal {
    /// A Boolean value that indicates whether the system has such terminals.
    static var isAvailable: Bool { access("/dev/ptmx", R_OK | W_OK) == 0 }

    /// The error when the system does not make a terminal.
    struct Failure: Error {}

    /// The path by which a command opens the terminal.
    let path: String
    private let descriptor: Int32
    /// Everything received so far.
    private(set) var bytes: [UInt8] = []

    init() throws {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        var (lock, number) = (Int32(0), Int32(0))
        // TIOCSPTLCK and TIOCGPTN, macros that are not imported into Swift.
        guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &lock) == 0, ioctl(descriptor, 0x8004_5430, &number) == 0
        else { throw Failure() }
        self.descriptor = descriptor
        path = "/dev/pts/\(number)"
    }

    deinit { close(descriptor) }

    /// Receives what has been written meanwhile; after the command has ended, all that is left.
    func receive() {
        var block = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &block, block.count)
            guard count > 0 else { return }
            bytes += block.prefix(count)
        }
    }
}
