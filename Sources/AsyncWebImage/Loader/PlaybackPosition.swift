/// The position in the playback of an animation.
struct PlaybackPosition: Equatable {
    private(set) var index = 0
    private(set) var run = 0

    /// Advances to the next frame; returns `false` after the last frame of the last of `loopCount` runs; 0 means
    /// forever.
    mutating func advance(frameCount: Int, loopCount: Int) -> Bool {
        if index + 1 < frameCount {
            index += 1
            return true
        }
        guard loopCount == 0 || run + 1 < loopCount else { return false }
        index = 0
        run &+= 1
        return true
    }
}
