// Many loads, of which a limited number is active at a time.
extension ImageLoader {
    /// Processes the elements of a sequence, which can be lazy, concurrently, and lets at most `maximumActive` of them use
    /// connections, or results, at a time.
    ///
    /// `process` is called for each element in a task of its own, with a slot to set in ``ImageRequest/slot``. An
    /// element becomes active when the transfer of one of its requests begins, and remains so until `process` returns:
    /// elements are downloaded no faster than their results are consumed. An element whose request waits for the rate
    /// of its host, for a connection, or for its next attempt is not active, and others use its slot meanwhile. Results
    /// from a cache wait for no slot; of these, about twice as many can be held.
    ///
    /// Further elements are read when they could become active. At most `maximumOpen` elements are read and not
    /// processed at a time, so that memory is bounded for a sequence of any length.
    ///
    /// ```swift
    /// let urls = ["https://example.com/a.jpg", "https://example.com/b.jpg"]
    /// try await loader.forEach(urls, maximumActive: 64) { url, slot in
    ///     var request = ImageRequest(url, maximumSide: 256)
    ///     request.slot = slot
    ///     print(try await loader.info(for: request).header.size, try await loader.image(for: request).pixels.size)
    /// }
    /// ```
    ///
    /// With `inOrder`, the first element that has not been processed can become active beyond the limit, because others
    /// might wait for it; see ``images(for:maximumActive:inOrder:_:)`` for results in order.
    ///
    /// If `process` throws an error, no further element is read, the tasks of the others are canceled, and the error is
    /// thrown when they have ended. If the task is canceled, so are all of them.
    public func forEach<Elements: Sequence>(
        _ elements: Elements, maximumActive: Int, maximumOpen: Int = 4_096, inOrder: Bool = false,
        _ process: @escaping @Sendable (Elements.Element, LoadSlot) async throws -> Void
    ) async throws where Elements.Element: Sendable {
        let group = loadGroup(maximumActive: maximumActive, maximumOpen: maximumOpen, inOrder: inOrder)
        defer { group.send(.endGroup(group)) }
        try await group.forEach(elements, process)
    }

    /// Processes the elements of an asynchronous sequence, such as the lines of a file, as
    /// ``forEach(_:maximumActive:maximumOpen:inOrder:_:)`` does.
    ///
    /// An error of the sequence ends the call like one of `process`, also while others are being processed.
    public func forEach<Elements: AsyncSequence & Sendable>(
        from elements: Elements, maximumActive: Int, maximumOpen: Int = 4_096, inOrder: Bool = false,
        _ process: @escaping @Sendable (Elements.Element, LoadSlot) async throws -> Void
    ) async throws where Elements.Element: Sendable {
        let group = loadGroup(maximumActive: maximumActive, maximumOpen: maximumOpen, inOrder: inOrder)
        try await forEach(elements, in: group, weight: { _ in 0 }, process)
    }

    /// Creates the group of the elements of one call.
    ///
    /// `forEach(_:in:weight:_:)` ends it.
    package func loadGroup(
        maximumActive: Int, maximumOpen: Int = LoadGroup.maximumOpenCount, inOrder: Bool = false
    ) -> LoadGroup {
        LoadGroup(limit: maximumActive, maximumOpen: maximumOpen, isOrdered: inOrder) { [coordinator] in
            coordinator.post(.event(.slot($0)))
        }
    }

    /// Processes the elements of an asynchronous sequence in `group`, of which elements of a limited total weight are
    /// open at a time.
    package func forEach<Elements: AsyncSequence & Sendable>(
        _ elements: Elements, in group: LoadGroup, weight: @escaping @Sendable (Elements.Element) -> Int,
        _ process: @escaping @Sendable (Elements.Element, LoadSlot) async throws -> Void
    ) async throws where Elements.Element: Sendable {
        defer { group.send(.endGroup(group)) }
        let reader = LoadReader()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                do {
                    var iterator = elements.makeAsyncIterator()
                    try await group.processAll(by: reader, weight, process) {
                        try await iterator.next(isolation: nil)
                    }
                    reader.finish(.success(()))
                } catch {
                    reader.finish(.failure(error))
                }
            }
            // An error cancels the first task, which can be waiting for the next element.
            tasks.addTask { try await reader.awaitEnd() }
            try await withTaskCancellationHandler {
                while try await tasks.next() != nil {}
            } onCancel: {
                reader.finish(.failure(CancellationError()))
            }
        }
    }
}

extension LoadGroup {
    /// Processes the elements of a sequence.
    func forEach<Elements: Sequence>(
        _ elements: Elements, by reader: LoadReader = LoadReader(),
        _ process: @escaping @Sendable (Elements.Element, LoadSlot) async throws -> Void
    ) async throws where Elements.Element: Sendable {
        var iterator = elements.makeIterator()
        do {
            try await withTaskCancellationHandler {
                try await processAll(by: reader, { _ in 0 }, process) { iterator.next() }
            } onCancel: {
                reader.finish(.failure(CancellationError()))
            }
        } catch {
            // The first error: the task of an element whose turn it ended can throw before its own has.
            try await reader.awaitEnd()
        }
        try Task.checkCancellation()
    }

    /// Processes each element that `next` returns in a task of its own.
    fileprivate func processAll<Element: Sendable>(
        by reader: LoadReader, _ weight: (Element) -> Int,
        _ process: @escaping @Sendable (Element, LoadSlot) async throws -> Void, _ next: () async throws -> Element?
    ) async throws {
        try await withThrowingDiscardingTaskGroup { tasks in
            while let slot = await enter(reader) {
                let read: Element?
                do {
                    read = try await next()
                } catch {
                    slot.end()
                    // Before the tasks that this error cancels end.
                    reader.finish(.failure(error))
                    throw error
                }
                guard let element = read else { return slot.end() }
                let weight = weight(element)
                add(weight: weight)
                tasks.addTask {
                    defer {
                        self.remove(weight: weight)
                        slot.end()
                    }
                    do {
                        try await process(element, slot)
                    } catch {
                        reader.finish(.failure(error))
                        throw error
                    }
                }
            }
        }
    }
}
