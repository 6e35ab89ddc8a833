import Synchronization

/// Counts the bytes read from and written to the files of a folder.
package final class FileIOStatistics: Sendable {
    private let read = Atomic(0)
    private let written = Atomic(0)

    /// Creates statistics without any bytes.
    package init() {}

    package var bytesRead: Int { read.load(ordering: .relaxed) }
    package var bytesWritten: Int { written.load(ordering: .relaxed) }

    func countRead(_ count: Int) { read.wrappingAdd(count, ordering: .relaxed) }
    func countWritten(_ count: Int) { written.wrappingAdd(count, ordering: .relaxed) }
}
