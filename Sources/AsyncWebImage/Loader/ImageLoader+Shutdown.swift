extension ImageLoader {
    /// Shuts down the loader: rejects new requests and lets selected downloads finish.
    ///
    /// From now on, requests fail with ``ImageError/shutDown``, except for images in the ``imageCache``. Downloads
    /// without a caller that has ``ImageRequest/finishesOnShutdown`` set are stopped immediately, and their callers get
    /// that error. Other downloads continue normally, including waiting and retrying, even if downloads are suspended.
    /// When `gracePeriod` has passed, measured by the loader's clock, they are stopped as well. The tasks of an
    /// ``ImagePrefetcher`` end without loading their remaining images.
    ///
    /// Returns when there is no caller, transfer, or decode anymore. If a hook of the application ignores cancellation,
    /// this method waits for it. The method can be called concurrently and repeatedly; the grace period that ends first
    /// applies to all calls. Canceling the calling task ends the grace period.
    public func shutdown(gracePeriod: Duration) async {
        await coordinator.shutDown(gracePeriod: gracePeriod)
    }
}
