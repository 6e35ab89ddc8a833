import ResponseCache

/// The callers that wait for the whole body of a download; usually one.
struct BodyWaiters {
    struct BodyWaiter {
        let answer: OneShot<ResponseBody>
        /// A Boolean value that indicates whether another caller had requested the download before.
        let isJoined: Bool
    }

    private var first: BodyWaiter?
    private var others: [ObjectIdentifier: BodyWaiter] = [:]

    var isEmpty: Bool { first == nil && others.isEmpty }

    mutating func insert(_ waiter: BodyWaiter) {
        if first == nil { first = waiter } else { others[ObjectIdentifier(waiter.answer)] = waiter }
    }

    mutating func remove(_ answer: OneShot<ResponseBody>) {
        if first?.answer === answer { first = nil } else { others[ObjectIdentifier(answer)] = nil }
    }

    /// Passes the same body to all waiting callers.
    consuming func deliver(_ bytes: [UInt8], _ delivery: Delivery, from source: ResponseSource) {
        forEach { waiter in
            let source = waiter.isJoined ? .joined : source
            waiter.answer.resolve(.success(ResponseBody(bytes: bytes, source: source, delivery: delivery)))
        }
    }

    /// Passes the same error to all waiting callers.
    consuming func fail(_ error: ImageError) {
        forEach { $0.answer.resolve(.failure(error)) }
    }

    private func forEach(_ body: (BodyWaiter) -> Void) {
        if let first { body(first) }
        for waiter in others.values { body(waiter) }
    }
}
