/// The numbers that files with the same name have been given, so that the search for a free one need not start over.
///
/// Many sites give all their images one name.
struct DuplicateNames {
    /// The number of names that are remembered; with more, all of them are searched for again.
    static let maximumCount = 1_024

    private var numbers: [String: Int] = [:]

    /// Returns the number after the last one of `name`, or 1; a number after that is for the next file.
    mutating func next(_ name: String) -> Int {
        guard let last = numbers[name] else { return 1 }
        numbers[name] = last + 1
        return last + 1
    }

    /// Records that a file has been given a number of `name`; one without duplicates is not remembered.
    mutating func take(_ number: Int, of name: String) {
        guard number > numbers[name] ?? 1 else { return }
        if numbers[name] == nil, numbers.count >= Self.maximumCount { numbers.removeAll(keepingCapacity: true) }
        numbers[name] = number
    }
}
