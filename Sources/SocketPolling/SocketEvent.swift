/// An event of a socket.
package struct SocketEvent: Equatable, Sendable {
    package let descriptor: Int32
    /// A number that distinguishes the socket from an earlier one with the same descriptor, whose event can be in the
    /// same batch.
    package let number: UInt32
    package let isReadable: Bool
    package let isWritable: Bool
    package let isBroken: Bool

    package init(descriptor: Int32, number: UInt32, isReadable: Bool, isWritable: Bool, isBroken: Bool) {
        self.descriptor = descriptor
        self.number = number
        self.isReadable = isReadable
        self.isWritable = isWritable
        self.isBroken = isBroken
    }
}
