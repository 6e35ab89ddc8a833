/// The hosts of a ``DownloadQueue`` by number; numbers are reused.
struct QueuedHosts {
    private var numbers: [String: Int] = [:]
    /// The hosts by number, accessed in place to avoid copying their lanes.
    ///
    /// There is no subscript: with Swift 6.3, a field of a value that a `_read` accessor yields is read after the access
    /// has ended.
    var states: [QueuedHost] = []
    private var freeNumbers: [Int] = []

    /// The number of numbers, including unused ones.
    var count: Int { states.count }

    /// The numbers of the hosts, unordered.
    var indices: Dictionary<String, Int>.Values { numbers.values }

    /// Returns the number of the host called `name`; `nil` if it has none.
    func known(_ name: String) -> Int? { numbers[name] }

    /// Gives a number to the host called `name`, which has none, and returns it.
    mutating func add(_ name: String) -> Int {
        let host = QueuedHost(name: name)
        guard let index = freeNumbers.popLast() else {
            numbers[name] = states.count
            states.append(host)
            return states.count - 1
        }
        numbers[name] = index
        states[index] = host
        return index
    }

    /// Removes a host; returns `true` if none is left and the numbers have been released.
    mutating func remove(_ index: Int) -> Bool {
        numbers[states[index].name] = nil
        freeNumbers.append(index)
        guard numbers.isEmpty, states.count > 64 else { return false }
        self = QueuedHosts()
        return true
    }
}
