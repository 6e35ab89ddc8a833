import HTTPSemantics
public import ResponseCache

extension ResponseCache {
    /// Creates a cache.
    ///
    /// Throws `ImageError.unusableCacheFolder` if the folder cannot be created, or if it contains no cache and
    /// `createsDirectory` is `false`, or if another user could change it: if it belongs to one, or others have the
    /// permission to write to it, or a symbolic link is in place of a folder in it. If it exists but cannot be written
    /// to, stored responses are used, and the loader logs a warning.
    public convenience init(_ configuration: Configuration) throws(ImageError) {
        do throws(FileFailure) {
            try self.init(configuration, now: { HTTPDate.now })
        } catch {
            throw .unusableCacheFolder(path: configuration.directory ?? "", reason: error.description)
        }
    }
}
