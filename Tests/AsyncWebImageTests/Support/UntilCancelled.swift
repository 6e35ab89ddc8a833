/// Returns when the task is canceled, and not before.
func untilCancelled() async {
    let (events, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in events {}
    continuation.finish()
}
