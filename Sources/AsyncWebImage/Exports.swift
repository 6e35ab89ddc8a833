// The types of requests, responses, and errors are available with `import AsyncWebImage`.
@_exported public import HTTPSemantics
@_exported public import HTTPTransport
@_exported public import HTTPTypes
@_exported public import ImageCodecs
@_exported public import ResponseCache
