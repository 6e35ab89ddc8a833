extension ImageLoader {
    /// Shuts down the loader: rejects new requests and lets selected downloads finish.
    ///
    /// From now on, requests fail with ``ImageError/shutDown``, except for images in the ``imageCache``. Downloads of
    /// which at least one caller has set ``ImageRequest/finishesOnShutdown`` continue normally, including waiting and
    /// retrying, even if downloads are suspended; all others are stopped immediately, and their callers get that error.
    /// When `gracePeriod` has passed, measured by the loader's clock, the remaining downloads are stopped as well. The
    /// tasks of an ``ImagePrefetcher`` end without loading their remaining images.
    ///
    /// Returns when there is no caller, transfer, or decode anymore. If a ``RequestModifier``, ``ResponseValidator``,
    /// or ``BodyTransform`` ignores cancellation, this method waits for it. The method can be called concurrently and
    /// repeatedly; the grace period that ends first applies to all calls. Canceling the calling task ends the grace
    /// period.
    public func shutdown(gracePeriod: Duration) async {
        await coordinator.shutDown(gracePeriod: gracePeriod)
    }
}
