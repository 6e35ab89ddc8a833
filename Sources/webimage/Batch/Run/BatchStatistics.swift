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
        count += 1
        receivedBytes += record.originalBytes ?? 0
        byCode[record.failure?.code.rawValue ?? "success", default: 0] += 1
        guard let failure = record.failure else { return successes += 1 }
        if failure.concernsImage { failedToResize += 1 } else { failedToDownload += 1 }
        if failure.isRetryable { retryable += 1 }
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
    }
}
