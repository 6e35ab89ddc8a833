/// An estimate of how busy a loader is; see ``ImageLoader/load``.
public struct LoadEstimate: Sendable, Hashable {
    /// The number of downloads that wait for a slot or a lookup in the ``ResponseCache``.
    public var waiting: Int
    /// The number of downloads that have a slot, or that a ``ResponseCache`` answers.
    public var running: Int
    /// The number of bytes that downloads hold in bodies that are arriving or waiting to be decoded.
    public var bytesInFlight: Int
    /// The memory granted to active decodes and other work of the loader's ``ImageDecoder``, in bytes.
    public var decodeBytes: Int
}
