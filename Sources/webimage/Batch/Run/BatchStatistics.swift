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
    }
}
