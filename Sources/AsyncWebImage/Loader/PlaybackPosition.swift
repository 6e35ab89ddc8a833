/// The position in the playback of an animation.
struct PlaybackPosition: Equatable {
    private(set) var index = 0
    private(set) var repetition = 0

    /// Advances to the next frame; returns `false` after the last frame of the last of `repetitionCount` runs; 0 means
    /// forever.
    mutating func advance(frameCount: Int, repetitionCount: Int) -> Bool {
        if index + 1 < frameCount {
            index += 1
            return true
        }
        guard repetitionCount == 0 || repetition + 1 < repetitionCount else { return false }
        index = 0
        repetition &+= 1
        return true
    }
}
