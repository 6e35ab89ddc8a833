// What requests, responses and errors are made of comes along with `import AsyncWebImage`.
@_exported public import HTTPSemantics
@_exported public import HTTPTransport
@_exported public import HTTPTypes
@_exported public import ImageCodecs
@_exported public import ResponseCache
