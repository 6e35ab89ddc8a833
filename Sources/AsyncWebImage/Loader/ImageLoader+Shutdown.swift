extension ImageLoader {
    /// Ends the loader: nothing new begins, and what may finish gets its time.
    ///
    /// From now on requests fail with ``ImageError/shutDown``; only images that are in the ``cache`` are still given.
    /// Downloads none of whose callers has ``ImageRequest/finishesOnShutdown`` are stopped at once, wherever they are, and
    /// their callers get that error. The others run, wait for a slot and try again as ever, suspended or not, until
    /// `gracePeriod` is over by the loader's clock; what is left of them is then stopped likewise. Lists of an
    /// ``ImagePrefetcher`` end.
    ///
    /// Returns when nothing is going on any more: no caller, no transfer, no decode. A hook of the application that does not
    /// end when it is canceled is waited for. Several may call it, and again when it is done; of their periods the one that
    /// ends first counts. Canceling the task that awaits it ends the grace period.
    public func shutdown(gracePeriod: Duration) async {
        await coordinator.shutDown(gracePeriod: gracePeriod)
    }
}
