import HTTPSemantics
public import ResponseCache

extension ResponseCache {
    /// A cache; what the folder has from earlier is looked through in the background.
    ///
    /// Throws `ImageError.unreadableFile` if there can be no such folder.
    public convenience init(_ configuration: Configuration) throws(ImageError) {
        do throws(FileFailure) {
            try self.init(configuration, now: { HTTPDate.now })
        } catch {
            throw .unreadableFile(path: configuration.directory ?? "", reason: error.description)
        }
    }
}
