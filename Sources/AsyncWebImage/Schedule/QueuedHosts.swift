/// The hosts a ``DownloadQueue`` has to do with, by numbers, which are given again when a host is gone.
struct QueuedHosts {
    private var numbers: [String: Int] = [:]
    private var hosts: [QueuedHost] = []
    private var freeNumbers: [Int] = []

    /// How many numbers there are, those that are free included.
    var count: Int { hosts.count }

    /// The numbers of the hosts, in no order.
    var indices: Dictionary<String, Int>.Values { numbers.values }

    /// A host by its number, in place: its lanes are not to be copied.
    subscript(index: Int) -> QueuedHost {
        _read { yield hosts[index] }
        _modify { yield &hosts[index] }
    }

    /// The number of the host called `name`, a new one if it was not known.
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

    /// Forgets a host; true if there are none left, nor the numbers that many had.
    mutating func remove(_ index: Int) -> Bool {
        numbers[hosts[index].name] = nil
        freeNumbers.append(index)
        guard numbers.isEmpty, hosts.count > 64 else { return false }
        self = QueuedHosts()
        return true
    }
}
