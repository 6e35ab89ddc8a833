// The types of requests, responses, and errors, such as `HTTPFields`, `TransportError`, `PixelBuffer`, `CachePolicy`, and
// `ResponseVersion`, occur in most uses of a loader. Without exports, every file that uses one would need up to five more
// imports, whose modules are an implementation detail. The attribute is not official, but the compiler has had it from
// the beginning; should it go away, the imports become necessary, and nothing else changes.
@_exported public import HTTPSemantics
@_exported public import HTTPTransport
@_exported public import HTTPTypes
@_exported public import ImageCodecs
@_exported public import ResponseCache
