@testable import ResponseCache

extension ResponseCache {
    /// The folder of a cache in a folder.
    var testFolder: EntryFolder? { (storage as? FolderStorage)?.folder }
}
