@testable import AsyncWebImage

extension ReaderWaits {
    /// A Boolean value that indicates whether no reader waits.
    var isEmpty: Bool { ready { _, _ in true }.isEmpty }
}
