/// Which frame of an animation comes next.
struct PlaybackPosition: Equatable {
    private(set) var index = 0
    private(set) var run = 0

    /// Moves to the next frame; false after the last frame of the last of `loopCount` runs, 0 being without end.
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
