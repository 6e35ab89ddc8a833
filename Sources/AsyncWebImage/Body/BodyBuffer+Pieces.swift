import DequeModule

// The pieces that a body consists of: those that are sealed, and the one that is being written.
extension BodyBuffer {
    /// Makes room for `count` more bytes in the open piece: if there is too little, it is enlarged or replaced.
    mutating func makeRoom(for count: Int) {
        guard open.count + count > open.capacity else { return }
        if let capacity = capacityOfWholeBody(adding: count), capacity >= open.count + count {
            var longer = pool.take(capacity: capacity)
            longer += open
            pool.keep(open)
            open = longer
            return
        }
        seal()
        let capacity = max(received == 0 ? firstCapacity : Self.segmentSize, count)
        if open.capacity < capacity { open = pool.take(capacity: capacity) }
    }

    /// Returns the capacity for the whole body, if it is in one piece and should remain so, because nothing reads it in
    /// pieces.
    ///
    /// It is limited by what has been received, including `count` more bytes, because the declared length could be
    /// false. Copying a longer beginning would delay the other transfers of the thread, so the pieces of such a body
    /// are combined at its end.
    private func capacityOfWholeBody(adding count: Int) -> Int? {
        guard let expected, readers.isEmpty, segments.isEmpty, received == open.count,
            received > 0, received < 2 * Self.trustedLength, expected > received
        else { return nil }
        return min(expected, (received + count) * Self.growth)
    }

    /// Returns the whole body.
    mutating func allBytes() -> [UInt8] {
        seal()
        guard segments.count > 1 else { return segments.first ?? [] }
        var bytes = pool.take(capacity: received)
        guard readers.isEmpty else {
            for segment in segments { bytes += segment }
            return bytes
        }
        // Segments are no longer numbered, and the body need not exist twice: their memory serves other bodies.
        while let segment = segments.popFirst() {
            bytes += segment
            pool.keep(segment)
        }
        segments = [bytes]
        return bytes
    }

    /// The number of pieces that the whole body consists of.
    var pieceCount: Int { segments.count + (open.isEmpty ? 0 : 1) }

    /// The pieces received so far, and the position after them; `nil` if the beginning has been discarded.
    mutating func beginning() -> (pieces: [[UInt8]], end: BodyPosition)? {
        guard hasBeginning else { return nil }
        seal()
        // Writing to the array of an empty deque: the thread sanitizer reports a false race because all empty arrays are
        // one.
        return (segments.isEmpty ? [] : Array(segments), lastPosition)
    }

    /// Lets later bodies reuse the memory.
    func release() {
        for segment in segments { pool.keep(segment) }
        pool.keep(open)
    }

    /// Ends the piece being written.
    mutating func seal() {
        guard !open.isEmpty else { return }
        // A reader that has read everything continues with the next segment.
        for (id, reader) in readers where reader.read == received {
            readers[id]?.next = reader.next + 1
            readers[id]?.offset = 0
        }
        guard open.count <= open.capacity / 2 else {
            segments.append(open)
            open = []
            return
        }
        // Read before it was full, as with a slow server: stored without its unused capacity.
        var segment = pool.take(capacity: open.count)
        segment += open
        segments.append(segment)
        if open.capacity < 2 * Self.trustedLength { return open.removeAll(keepingCapacity: true) }
        // The memory of the whole body, which is not one array anymore, would be held beside its pieces.
        pool.keep(open)
        open = []
    }

    /// Discards bytes that every reader has read, once the whole body is no longer needed.
    mutating func dropRead() {
        guard !hasBeginning, !isCollected else { return }
        let oldest = readers.values.map(\.next).min() ?? firstSegment + segments.count
        var dropped = 0
        while firstSegment < oldest, let segment = segments.popFirst() {
            firstSegment += 1
            dropped += segment.count
        }
        if segments.isEmpty, !open.isEmpty, readers.values.allSatisfy({ $0.read == received }) {
            for id in readers.keys { readers[id]?.offset = 0 }
            dropped += open.count
            open.removeAll(keepingCapacity: true)
        }
        held -= dropped
    }
}
