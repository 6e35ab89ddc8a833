/// The hosts of a ``DownloadQueue`` by number; numbers are reused.
struct QueuedHosts {
    private var numbers: [String: Int] = [:]
    private var hosts: [QueuedHost] = []
    private var freeNumbers: [Int] = []

    /// The number of numbers, including unused ones.
    var count: Int { hosts.count }

    /// The numbers of the hosts, unordered.
    var indices: Dictionary<String, Int>.Values { numbers.values }

    /// The host with a number, accessed in place to avoid copying its lanes.
    subscript(index: Int) -> QueuedHost {
        _read { yield hosts[index] }
        _modify { yield &hosts[index] }
    }

    /// Returns the number of the host called `name`, a new one if it is unknown.
    mutating func index(of name: String) -> Int {
        if let index = numbers[name] { return index }
        let host = QueuedHost(name: name)
        guard let index = freeNumbers.popLast() else {
            numbers[name] = hosts.count
            hosts.append(host)
            return hosts.count - 1
        }
        numbers[name] = index
        hosts[index] = host
        return index
    }

    /// Removes a host; returns `true` if none is left and the numbers have been released.
    mutating func remove(_ index: Int) -> Bool {
        numbers[hosts[index].name] = nil
        freeNumbers.append(index)
        guard numbers.isEmpty, hosts.count > 64 else { return false }
        self = QueuedHosts()
        return true
    }
}
