import ResponseCache

/// Those who wait for the whole body of a download; mostly it is one.
struct Collectors {
    struct Collector {
        let answer: OneShot<ImageData>
        /// Whether somebody else had asked before.
        let isJoined: Bool
    }

    private var first: Collector?
    private var others: [ObjectIdentifier: Collector] = [:]

    var isEmpty: Bool { first == nil && others.isEmpty }

    mutating func insert(_ collector: Collector) {
        if first == nil { first = collector } else { others[ObjectIdentifier(collector.answer)] = collector }
    }

    mutating func remove(_ answer: OneShot<ImageData>) {
        if first?.answer === answer { first = nil } else { others[ObjectIdentifier(answer)] = nil }
    }

    /// Gives all of them the same body, or the same error.
    consuming func resolve(
        _ body: Result<(bytes: [UInt8], delivery: Delivery), ImageError>, from source: ResponseSource
    ) {
        if let first { first.resolve(body, from: source) }
        for collector in others.values { collector.resolve(body, from: source) }
    }
}

extension Collectors.Collector {
    fileprivate func resolve(
        _ body: Result<(bytes: [UInt8], delivery: Delivery), ImageError>, from source: ResponseSource
    ) {
        switch body {
        case .success((let bytes, let delivery)):
            answer.resolve(.success(ImageData(bytes: bytes, source: isJoined ? .joined : source, delivery: delivery)))
        case .failure(let error):
            answer.resolve(.failure(error))
        }
    }
}
