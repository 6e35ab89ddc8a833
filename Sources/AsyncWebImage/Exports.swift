// The types that most users of a loader name: without exports, a file that uses one would need up to five more imports.
// Transports, formats, and storages of one's own need the import of their module. The attribute is not official, but
// the compiler has had it from the beginning; should it go away, the imports become necessary, and nothing else changes.
@_exported public import struct HTTPSemantics.Freshness
@_exported public import struct HTTPSemantics.ResponseVersion
@_exported public import enum HTTPTransport.Credential
@_exported public import class HTTPTransport.CurlTransport
@_exported public import struct HTTPTransport.Deadlines
@_exported public import struct HTTPTransport.HTTPURL
@_exported public import struct HTTPTransport.HostPattern
@_exported public import struct HTTPTransport.NetworkPolicy
@_exported public import enum HTTPTransport.ProxyRule
@_exported public import struct HTTPTransport.RedirectPolicy
@_exported public import struct HTTPTransport.ResponseHead
@_exported public import struct HTTPTransport.TLSOptions
@_exported public import struct HTTPTransport.TransportError
@_exported public import struct HTTPTypes.HTTPField
@_exported public import struct HTTPTypes.HTTPFields
@_exported public import struct HTTPTypes.HTTPResponse
@_exported public import struct ImageCodecs.AnimatedImage
@_exported public import class ImageCodecs.AnimationDecoder
@_exported public import enum ImageCodecs.CodecError
@_exported public import struct ImageCodecs.DecodeLimits
@_exported public import struct ImageCodecs.DecodeOptions
@_exported public import struct ImageCodecs.DecodedImage
@_exported public import struct ImageCodecs.ImageFormat
@_exported public import struct ImageCodecs.ImageHeader
@_exported public import struct ImageCodecs.PixelBuffer
@_exported public import struct ImageCodecs.PixelSize
@_exported public import struct ImageProcessing.ImageTransformation
@_exported public import struct ImageEncoders.EncodeOptions
@_exported public import enum ResponseCache.CachePolicy
@_exported public import class ResponseCache.ResponseCache
@_exported public import enum ResponseCache.ResponseSource
