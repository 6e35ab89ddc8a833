import HTTPSemantics
public import ResponseCache

extension ResponseCache {
    /// Creates a cache; existing entries of the folder are indexed in the background.
    ///
    /// Throws `ImageError.unusableCacheFolder` if the folder cannot be created.
    public convenience init(_ configuration: Configuration) throws(ImageError) {
        do throws(FileFailure) {
            try self.init(configuration, now: { HTTPDate.now })
        } catch {
            throw .unusableCacheFolder(path: configuration.directory ?? "", reason: error.description)
        }
    }
}
