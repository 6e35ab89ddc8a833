import AsyncWebImage
import HTTPTypes
import LoopbackOrigin
import ResponseCache
import TestSupport

/// Makes the requests of a test with the public API of the library, and judges the responses.
struct ConformanceClient {
    /// An expectation that is not met.
    struct Failure: Error {
        let isSetup: Bool
        let message: String
    }

    /// A response as the caller of the library gets it.
    fileprivate struct Response {
        let status: Int
        let fields: HTTPFields
        let body: String

        init(_ head: ResponseHead, _ body: String) {
            (status, fields, self.body) = (head.status.code, head.response.headerFields, body)
        }
    }

    let test: ConformanceTest
    let origin: ConformanceOrigin
    let loader: ImageLoader
    let time: ManualTime
    let url: String

    /// Makes all requests, then checks what the origin has seen.
    func run() async throws(Failure) {
        var responses: [Response] = []
        for (index, request) in test.requests.enumerated() {
            let response: Response
            do {
                response = try await send(request, number: index + 1)
            } catch {
                throw Failure(isSetup: request.isSetup(""), message: "request \(index + 1): \(error)")
            }
            try check(response, of: request, number: index + 1)
            responses.append(response)
            if request.pause_after == true { time.advance(by: 3) }
        }
        for (index, request) in test.requests.enumerated() where request.expected_type != .cached {
            try checkOrigin(request, responses[index], number: index + 1)
        }
    }

    // MARK: The request

    private func send(_ request: ConformanceRequest, number: Int) async throws -> Response {
        var target = ImageRequest(url + (request.query_arg.map { "?\($0)" } ?? ""))
        target.headerFields = try fields(of: request, number: number)
        target.cachePolicy =
            switch request.cache {
            case "reload": .reload
            case "no-cache": .revalidate
            case "force-cache": .cacheElseLoad
            case "only-if-cached": .cacheOnly
            case "no-store": .noStore
            default: nil
            }
        do {
            let data = try await loader.data(for: target)
            return Response(data.head, String(decoding: data.bytes, as: UTF8.self))
        } catch ImageError.status(let head, let text) {
            return Response(head, text)
        } catch ImageError.notModified(let head), ImageError.emptyBody(let head) {
            return Response(head, "")
        }
    }

    private func fields(of request: ConformanceRequest, number: Int) throws -> HTTPFields {
        var fields = HTTPFields()
        for field in request.request_headers ?? [] {
            guard case .text(let text)? = field.first, field.count > 1, let name = HTTPField.Name(text) else {
                throw Failure(isSetup: true, message: "a header field that cannot be sent")
            }
            fields.append(HTTPField(name: name, value: field[1].field(text, now: time.now)))
        }
        if let name = HTTPField.Name(ConformanceOrigin.number) { fields[name] = "\(number)" }
        return fields
    }

    // MARK: The response

    private func check(_ response: Response, of request: ConformanceRequest, number: Int) throws(Failure) {
        let count = response[ConformanceOrigin.serverCount].flatMap { Int($0) }
        switch request.expected_type {
        case .cached:
            try expect(count.map { $0 < number } ?? false, "expected_type", request, number, "is not from the cache")
        case .not_cached: try expect(count == number, "expected_type", request, number, "is from the cache")
        case .etag_validated, .lm_validated, nil: break
        }
        var status = request.expected_status ?? 200
        if request.expected_status == nil, case .number(let declared)? = request.response_status?.first {
            status = declared
        }
        try expect(response.status == status, "expected_status", request, number, "has status \(response.status)")
        for field in request.expected_response_headers ?? [] {
            try expect(
                response.has(field), "expected_response_headers", request, number,
                "has not \(field.values)")
        }
        for field in request.expected_response_headers_missing ?? [] {
            try expect(
                !response.has(field), "expected_response_headers_missing", request, number,
                "has \(field.values)")
        }
        guard request.check_body != false, response.status != 204, response.status != 304 else { return }
        if request.expected_status == 504, request.expected_response_text == nil { return }
        let body = request.expected_response_text ?? request.response_body ?? test.body
        try expect(response.body == body, "expected_response_text", request, number, "has the body \(response.body)")
    }

    // MARK: The origin

    private func checkOrigin(
        _ request: ConformanceRequest, _ response: Response, number: Int
    ) throws(Failure) {
        guard let seen = origin.seen(number) else { return }
        let validator =
            switch request.expected_type {
            case .etag_validated: "If-None-Match"
            case .lm_validated: "If-Modified-Since"
            case .cached, .not_cached, nil: nil as String?
            }
        if let validator {
            try expect(seen.fields[validator] != nil, "expected_type", request, number, "is not validated")
        }
        for field in request.expected_request_headers ?? [] {
            guard case .text(let name)? = field.values.first else { continue }
            let value = seen.fields.values(named: name).joined(separator: ", ")
            try expect(
                field.values.count > 1 ? .text(value) == field.values[1] : !value.isEmpty,
                "expected_request_headers", request, number, "was sent with \(name): \(value)")
        }
        for field in seen.checkedFields {
            let values = seen.checkedFields.filter { $0.name.lowercased() == field.name.lowercased() }.map(\.value)
            try expect(
                response[field.name] == values.joined(separator: ", "), "response_headers", request, number,
                "has \(field.name): \(response[field.name] ?? "nothing") instead of \(values)")
        }
    }

    private func expect(
        _ isMet: Bool, _ expectation: String, _ request: ConformanceRequest, _ number: Int, _ message: String
    ) throws(Failure) {
        guard !isMet else { return }
        throw Failure(isSetup: request.isSetup(expectation), message: "response \(number) \(message)")
    }
}

extension ConformanceClient.Response {
    subscript(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    /// Returns whether the response has a field, with the value or in the relation that is expected.
    func has(_ field: ConformanceRequest.Field) -> Bool {
        guard case .text(let name)? = field.values.first, let value = self[name] else { return false }
        switch field.values.count {
        case 1: return true
        case 2:
            // Dates are those at the origin when it answered.
            let now = self[ConformanceOrigin.serverTime].flatMap { Int($0) } ?? 0
            return value == field.values[1].field(name, now: now)
        default:
            switch (field.values[1], field.values[2]) {
            case (.text("="), .text(let other)): return value == self[other]
            case (.text(">"), .number(let minimum)): return Int(value).map { $0 > minimum } ?? false
            default: return false
            }
        }
    }
}
