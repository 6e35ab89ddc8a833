public import HTTPSemantics
public import FoundationEssentials
public import HTTPTransport
public import HTTPTypes
public import ImageCodecs
public import ImageProcessing
public import ResponseCache

/// A request for an image: its URL, and the options for downloading and decoding.
public struct ImageRequest: Sendable, Hashable {
    /// The absolute http or https URL, or the URL of a source of the loader (``URLSource``).
    public var url: String
    /// The decoding options, such as the target size.
    ///
    /// They are ignored if no pixels are requested, for example by ``ImageLoader/data(for:)`` or
    /// ``ImageLoader/bytes(for:readsHeader:)``.
    public var options: DecodeOptions
    /// The changes to the decoded image, in order; part of the identity of the image in caches.
    ///
    /// They are made on the threads of ``ImageLoader/decoder`` and within its memory, also for previews, files, and the
    /// frames of animations.
    public var transformations: [ImageTransformation]
    /// The priority of the download; if callers share a download, the highest applies.
    public var priority: DownloadPriority
    /// The header fields of this request, which replace the configuration's fields with the same name.
    ///
    /// Requests with different fields never share a download.
    public var headerFields: HTTPFields
    /// The credential for the origin; never forwarded to another origin by a redirect.
    ///
    /// It takes precedence over the user name and password in the URL, and over a ``CredentialProvider``. Requests with
    /// different credentials never share a download.
    public var credential: Credential?
    /// A Boolean value that indicates whether the loader's cookies are sent, and cookies from the response are stored;
    /// see ``CurlTransport/Configuration/cookieFile``.
    public var handlesCookies: Bool
    /// A Boolean value that indicates whether ``ImageLoader/shutdown(gracePeriod:)`` lets the download continue for
    /// the grace period instead of stopping it immediately.
    ///
    /// If callers share a download, it is sufficient that one of them sets this property.
    public var finishesOnShutdown: Bool
    /// The policy for using cached responses and images; `nil` for ``ImageLoader/Configuration/cachePolicy``.
    public var cachePolicy: CachePolicy?
    /// The version that the caller already has; if it is still current, the request fails with
    /// ``ImageError/notModified(_:)``.
    ///
    /// A request is sent to the origin even if there is a cached response; only ``CachePolicy/cacheOnly`` ignores this
    /// property. Conditional header fields of the request have the same effect.
    public var knownVersion: ResponseVersion?
    /// The text that identifies the image in caches and for sharing downloads, instead of ``url``; `nil` for the URL.
    ///
    /// Use it if the same image has different URLs, such as signed ones that expire: for example, the URL without its
    /// query. All requests with the same key must be for the same image, because the first one's result is used for
    /// all.
    public var cacheKey: String?
    /// The digest that the response body must have; `nil` for any.
    ///
    /// If the body has another digest, every kind of load fails with
    /// ``ImageError/digestMismatch(_:expected:actual:from:)``, and no pixels enter ``ImageLoader/imageCache``.
    /// A result is therefore delivered only after the whole body has been received. This includes the result of
    /// ``ImageLoader/info(for:readsAnimation:)``, and the first frame of an animation, which ``ImageLoader/image(for:)``
    /// returns. Only previews, frames of ``ImageLoader/animationFrames(for:)``, and pieces of
    /// ``ImageLoader/bytes(for:readsHeader:)`` are delivered before the digest is known; they are followed by the error. An
    /// interrupted transfer is an error, even with ``DecodeOptions/allowsPartial``. The body is the one that
    /// ``ImageLoader/data(for:)`` returns, after any ``BodyTransform``.
    ///
    /// A stored response with another digest is treated as not stored: the image is requested again with
    /// ``CachePolicy/reload``. With ``CachePolicy/cacheOnly`` and for ``ImageLoader/bytes(for:readsHeader:)``, the load fails.
    ///
    /// Requests with different expected digests share a download, which computes each algorithm once.
    public var expectedDigest: BodyDigest?
    /// The properties that the image must have; `nil` for any.
    ///
    /// They are checked as soon as the header of the file has been received. If the image does not meet them, the load
    /// fails with ``ImageError/unsuitable(_:url:)``, and the transfer stops, unless another caller needs it. Requests
    /// with different requirements share a download and its decodes. ``ImageLoader/data(for:)``, which accepts any file,
    /// ignores this property.
    public var requirements: ImageRequirements?
    /// The settings of this request that replace those of the loader's ``DownloadConfiguration``; `nil` for none.
    public var transfer: TransferOptions?
    /// The time from the request to its result, including all waits, retries, and the decode; `nil` for no limit.
    ///
    /// After it, the request fails with `timedOut(.total)` (``TransportError``). A download that other callers need goes
    /// on, so requests with different limits share one. ``DownloadConfiguration/deadlines`` apply in addition. The
    /// result of ``ImageLoader/bytes(for:readsHeader:)`` is the sequence: the time in which its pieces are read does
    /// not count.
    public var deadline: Duration?
    /// The URLs that are requested in turn if ``url`` and those before them fail.
    ///
    /// They are not requested after a cancellation, a shutdown, or an overload, after the refusal of a ``NetworkPolicy`` or
    /// a hook, if the known version is current, or once ``deadline`` has passed. The request for one is the same, except
    /// that it has no ``knownVersion`` or other condition and, if its origin is another one, neither ``headerFields``
    /// nor ``credential``. If a URL that has failed has the same ``cacheKey``, the request is made with
    /// ``CachePolicy/reload``, unless the policy is ``CachePolicy/cacheOnly`` or ``CachePolicy/noStore``.
    /// Previews and frames of animations are those of the first URL for which there are any; the next URL is requested
    /// when the consumer waits for an element.
    public var fallbackURLs: [String] = []
    /// The slot of the element for which the request is made, in
    /// ``ImageLoader/forEach(_:maximumActive:maximumOpen:inOrder:_:)``; `nil` for none.
    public var slot: LoadSlot?
    /// The image itself, if the request contains it; ignored if ``url`` has been changed.
    var content: RequestContent?

    /// Creates a request for the image at `url`.
    ///
    /// The URL is validated when it is loaded.
    public init(
        _ url: String,
        options: DecodeOptions = DecodeOptions(),
        transformations: [ImageTransformation] = [],
        priority: DownloadPriority = .normal,
        headerFields: HTTPFields = [:],
        credential: Credential? = nil,
        handlesCookies: Bool = false,
        finishesOnShutdown: Bool = false,
        cachePolicy: CachePolicy? = nil,
        knownVersion: ResponseVersion? = nil,
        cacheKey: String? = nil,
        expectedDigest: BodyDigest? = nil,
        requirements: ImageRequirements? = nil
    ) {
        self.url = url
        self.options = options
        self.transformations = transformations
        self.priority = priority
        self.headerFields = headerFields
        self.credential = credential
        self.handlesCookies = handlesCookies
        self.finishesOnShutdown = finishesOnShutdown
        self.cachePolicy = cachePolicy
        self.knownVersion = knownVersion
        self.cacheKey = cacheKey
        self.expectedDigest = expectedDigest
        self.requirements = requirements
    }

    /// Creates a request for the image at `url`.
    public init(
        _ url: URL,
        options: DecodeOptions = DecodeOptions(),
        transformations: [ImageTransformation] = [],
        priority: DownloadPriority = .normal,
        headerFields: HTTPFields = [:],
        credential: Credential? = nil,
        handlesCookies: Bool = false,
        finishesOnShutdown: Bool = false,
        cachePolicy: CachePolicy? = nil,
        knownVersion: ResponseVersion? = nil,
        cacheKey: String? = nil,
        expectedDigest: BodyDigest? = nil,
        requirements: ImageRequirements? = nil
    ) {
        self.init(
            url.absoluteString, options: options, transformations: transformations, priority: priority,
            headerFields: headerFields, credential: credential, handlesCookies: handlesCookies,
            finishesOnShutdown: finishesOnShutdown, cachePolicy: cachePolicy, knownVersion: knownVersion,
            cacheKey: cacheKey, expectedDigest: expectedDigest, requirements: requirements)
    }

    /// Creates a request for the image at `url` with neither side longer than `maximumSide` pixels.
    public init(_ url: String, maximumSide: Int) {
        self.init(url, options: DecodeOptions(target: .maximumSide(maximumSide)))
    }
}
