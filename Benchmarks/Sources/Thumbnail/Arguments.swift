/// The arguments of the command.
struct Arguments {
    static let usage = "usage: thumbnail INPUT OUTPUT --max-pixel-size N [--raw]"

    var input = ""
    var output = ""
    var maximumSide = 0
    /// A Boolean value that indicates whether plain pixels are written instead of a JPEG.
    var writesPixels = false

    /// Creates the arguments from the words of the command line.
    ///
    /// Throws `Failure` unless there are two paths and a size of at least 1.
    init(_ words: some Sequence<String>) throws(Failure) {
        var paths: [String] = []
        var words = words.makeIterator()
        while let word = words.next() {
            if word == "--max-pixel-size" {
                maximumSide = words.next().flatMap { Int($0) } ?? 0
            } else if word == "--raw" {
                writesPixels = true
            } else {
                paths.append(word)
            }
        }
        guard paths.count == 2, maximumSide > 0 else { throw Failure(description: Self.usage) }
        (input, output) = (paths[0], paths[1])
    }
}
