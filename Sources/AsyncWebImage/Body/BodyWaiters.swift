import ResponseCache

/// The callers that wait for the whole body of a download; usually one.
struct BodyWaiters {
    struct BodyWaiter {
        let answer: OneShot<ImageData>
        /// A Boolean value that indicates whether another caller had requested the download before.
        let isJoined: Bool
    }

    private var first: BodyWaiter?
    private var others: [ObjectIdentifier: BodyWaiter] = [:]

    var isEmpty: Bool { first == nil && others.isEmpty }

    mutating func insert(_ waiter: BodyWaiter) {
        if first == nil { first = waiter } else { others[ObjectIdentifier(waiter.answer)] = waiter }
    }

    mutating func remove(_ answer: OneShot<ImageData>) {
        if first?.answer === answer { first = nil } else { others[ObjectIdentifier(answer)] = nil }
    }

    /// Passes the same body or error to all waiting callers.
    consuming func resolve(
        _ body: Result<(bytes: [UInt8], delivery: Delivery), ImageError>, from source: ResponseSource
    ) {
        if let first { first.resolve(body, from: source) }
        for waiter in others.values { waiter.resolve(body, from: source) }
    }
}

extension BodyWaiters.BodyWaiter {
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
