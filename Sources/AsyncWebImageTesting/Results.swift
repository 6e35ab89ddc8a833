public import AsyncWebImage
import HTTPTransport
public import HTTPTypes
public import ImageCodecs
public import ResponseCache

// Results of a loader, for tests of code that receives them.

extension ImageResponse {
    /// Creates the result of loading an image with these pixels, in their original size.
    public init(
        pixels: PixelBuffer, format: ImageFormat = .png, url: String = "https://example.com/image",
        headerFields: HTTPFields = [:], source: ResponseSource = .network, byteCount: Int = 0
    ) {
        let header = ImageHeader(format: format, size: pixels.size)
        let image = DecodedImage(pixels: pixels, header: header, originalSize: pixels.size)
        self.init(image: image, head: exampleHead(url, headerFields), source: source, byteCount: byteCount)
    }
}

extension AnimationResponse {
    /// Creates the result of loading an animation, which can be created from a file: `AnimatedImage(bytes)`.
    public init(
        animation: AnimatedImage, url: String = "https://example.com/image", headerFields: HTTPFields = [:],
        source: ResponseSource = .network, byteCount: Int = 0
    ) {
        self.init(animation: animation, head: exampleHead(url, headerFields), source: source, byteCount: byteCount)
    }
}

extension ImageInfo {
    /// Creates the result of reading the properties of an image, which can be created from its format and size:
    /// `ImageHeader(format:size:)`.
    public init(
        header: ImageHeader, url: String = "https://example.com/image", headerFields: HTTPFields = [:],
        source: ResponseSource = .network, byteCount: Int = 0
    ) {
        self.init(
            header: header, animation: nil, head: exampleHead(url, headerFields), source: source, byteCount: byteCount)
    }
}

extension ResponseBody {
    /// Creates the result of loading an undecoded body.
    public init(
        bytes: [UInt8], url: String = "https://example.com/image", headerFields: HTTPFields = [:],
        source: ResponseSource = .network
    ) {
        self.init(bytes: bytes, head: exampleHead(url, headerFields), source: source)
    }
}

/// Returns the head of a response with the status 200.
private func exampleHead(_ url: String, _ headerFields: HTTPFields) -> ResponseHead {
    let parsed = (try? HTTPURL(url)) ?? HTTPURL(ofSource: "content:\(url)", scheme: "content")
    return ResponseHead(response: HTTPResponse(status: .ok, headerFields: headerFields), url: parsed)
}
