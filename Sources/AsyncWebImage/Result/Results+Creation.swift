package import HTTPTransport
package import ImageCodecs
package import ResponseCache

// Results that no download has delivered, for tests of applications.
extension ImageResponse {
    package init(image: DecodedImage, head: ResponseHead, source: ResponseSource, byteCount: Int) {
        let origin = ResponseOrigin(head: head, source: source, byteCount: byteCount, metrics: TransferMetrics())
        self.init(image: image, origin: origin, scale: head.url.displayScale)
    }
}

extension AnimationResponse {
    package init(animation: AnimatedImage, head: ResponseHead, source: ResponseSource, byteCount: Int) {
        let origin = ResponseOrigin(head: head, source: source, byteCount: byteCount, metrics: TransferMetrics())
        self.init(animation: animation, origin: origin)
    }
}

extension ImageInfo {
    package init(
        header: ImageHeader, animation: AnimatedImage?, head: ResponseHead, source: ResponseSource, byteCount: Int
    ) {
        let origin = ResponseOrigin(head: head, source: source, byteCount: byteCount, metrics: TransferMetrics())
        self.init(FileSummary(header: header, byteCount: byteCount, animation: animation), origin: origin)
    }
}

extension ResponseBody {
    package init(bytes: [UInt8], head: ResponseHead, source: ResponseSource) {
        self.init(bytes: bytes, source: source, delivery: Delivery(head: head, metrics: TransferMetrics()))
    }
}
