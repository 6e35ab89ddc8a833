import AsyncWebImage

/// The numbers of answers, by outcome.
struct BatchStatistics: Sendable, Equatable {
    private(set) var count = 0
    private(set) var successes = 0
    private(set) var failedToDownload = 0
    private(set) var failedToResize = 0
    /// The number of answers by error code, and of successes.
    private(set) var byCode: [String: Int] = [:]
    /// The number of failures that may not occur again.
    private(set) var retryable = 0
    /// The number of bytes received in complete or partial bodies.
    private(set) var receivedBytes = 0

    var failures: Int { count - successes }

    mutating func add(_ record: BatchRecord) {
        add(record.failure?.code.rawValue, bytes: record.originalBytes)
        guard let failure = record.failure else { return }
        addFailure(concernsImage: failure.concernsImage, isRetryable: failure.isRetryable)
    }

    mutating func add(_ record: CommittedRecord) {
        add(record.code, bytes: record.originalBytes)
        guard record.code != nil else { return }
        addFailure(concernsImage: record.concernsImage, isRetryable: record.isRetryable)
    }

    mutating func add(_ other: BatchStatistics) {
        count += other.count
        successes += other.successes
        failedToDownload += other.failedToDownload
        failedToResize += other.failedToResize
        byCode.merge(other.byCode, uniquingKeysWith: +)
        retryable += other.retryable
        receivedBytes &+= other.receivedBytes
    }

    private mutating func add(_ code: String?, bytes: Int?) {
        count += 1
        // A number of a damaged file may be any.
        receivedBytes &+= bytes ?? 0
        byCode[code ?? "success", default: 0] += 1
        if code == nil { successes += 1 }
    }

    private mutating func addFailure(concernsImage: Bool, isRetryable: Bool) {
        if concernsImage { failedToResize += 1 } else { failedToDownload += 1 }
        if isRetryable { retryable += 1 }
    }

    /// Adds the numbers to an object, with the names of img2dataset.
    func addCounts(to object: inout JSONObject) {
        object.add("count", count)
        object.add("successes", successes)
        object.add("failed_to_download", failedToDownload)
        object.add("failed_to_resize", failedToResize)
        var codes = JSONObject()
        for (code, count) in byCode.sorted(by: { $0.key < $1.key }) { codes.add(code, count) }
        object.add("status_dict", raw: codes.bytes)
        object.add("retryable", retryable)
    }
}

extension BatchStatistics {
    /// The maximum of a number that is read, so that those of all shards can be added.
    private static let largest = 1_000_000_000

    /// Reads the numbers that ``addCounts(to:)`` has written; `nil` if they are missing, or contradict each other.
    init?(_ members: JSONMembers) {
        guard let count = Self.number("count", in: members), let successes = Self.number("successes", in: members),
            let failedToDownload = Self.number("failed_to_download", in: members),
            let failedToResize = Self.number("failed_to_resize", in: members),
            successes + failedToDownload + failedToResize == count, let codes = members.object("status_dict")
        else { return nil }
        self.init()
        byCode = codes.numbers
        guard byCode.values.allSatisfy({ (0...Self.largest).contains($0) }), byCode.values.reduce(0, +) == count else {
            return nil
        }
        self.count = count
        self.successes = successes
        self.failedToDownload = failedToDownload
        self.failedToResize = failedToResize
        // Without it, there were none.
        retryable = Self.number("retryable", in: members) ?? 0
    }

    private static func number(_ name: String, in members: JSONMembers) -> Int? {
        members.number(name).flatMap { (0...largest).contains($0) ? $0 : nil }
    }
}
