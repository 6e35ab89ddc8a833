/// The space that other entries may lose for one that is being written to a full storage.
///
/// It is at most half of what is stored, so that a response that does not fit, whose length can be unknown, does not
/// empty the cache.
struct EntryRoom: Sendable {
    /// The number of bytes that are still to be written; `nil` if it is unknown.
    var missing: Int?
    /// The number of bytes that can still be taken; `nil` as long as there was enough space.
    private var left: Int?

    /// Creates the room of an entry of this length, if it is known.
    init(_ length: Int?) { missing = length }

    /// Takes up to `wanted` of the `size` bytes that are stored; returns 0 if the entry, which needs at least `needed`
    /// bytes, cannot be completed with what is left.
    mutating func take(_ wanted: Int, for needed: Int, of size: Int) -> Int {
        let left = min(left ?? size / 2, size)
        guard max(missing ?? 0, needed) <= left else { return 0 }
        let taken = min(wanted, left)
        self.left = left - taken
        return taken
    }
}
