import Testing

@testable import HTTPSemantics

struct AcceptFieldTests {
    @Test(arguments: [
        ("image/webp", 1), ("IMAGE/WEBP", 1), ("image/*", 1), ("*/*", 1), ("*/*;q=0.5", 0.5),
        ("image/webp;q=0.25, image/*;q=0.75, */*", 0.25), ("image/*;q=0.75, */*", 0.75), ("text/html", 0), ("", 0),
        ("image/webp ; q=0.5", 0.5), ("image/webp;level=1;q=0.5", 0.5), ("image/webp;q=2", 1), ("image/webp;q=-1", 0),
        ("image/webp;q=nan", 0), ("image/webp;q=", 0), (",,/;;,image/webp", 1), ("image/", 0), ("image/webp/x", 0),
    ])
    func weightIsThatOfTheMostSpecificRange(field: String, weight: Double) {
        #expect(AcceptField(field).weight(of: "image/webp") == weight)
    }
}
