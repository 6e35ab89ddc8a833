import HTTPTransport
import Testing

@testable import AsyncWebImage

struct DisplayScaleTests {
    @Test(arguments: [
        ("http://example.com/icon.png", 1), ("http://example.com/icon@2x.png", 2),
        ("http://example.com/a/icon@3x.jpg?size=4", 3), ("http://example.com/icon%402x.png", 2),
        ("http://example.com/icon@4x.png", 1), ("http://example.com/@2x.d/icon.png", 1),
        ("http://example.com/icon@2x", 1), ("http://user@2x.example.com/icon.png", 1),
    ])
    func displayScaleIsInTheFileName(_ url: String, _ scale: Int) throws {
        #expect(try HTTPURL(url).displayScale == scale)
    }
}
