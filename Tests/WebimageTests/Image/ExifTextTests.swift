import AsyncWebImage
import ImageTestSupport
import Testing

@testable import webimage

struct ExifTextTests {
    private typealias Field = TestExif.Field

    private func text(_ fields: Field..., exif: [Field] = []) -> String? {
        ExifText.text(of: TestExif.bytes(image: fields, exif: exif))
    }

    @Test func textIsAnObjectWithTheNamesOfTheStandard() {
        #expect(
            ExifText.text(of: TestExif.photo) == #"""
                {"Make":"Kamera","Model":"K-1 \"II\"","Orientation":1,"ExposureTime":"1/60","ExifVersion":"0232",\#
                "DateTimeOriginal":"2024:05:01 12:30:00","0xEEEE":7,"GPSLatitudeRef":"N",\#
                "GPSLatitude":["47/1","36/1","1234/25"]}
                """#)
    }

    @Test func numbersThatJSONDoesNotHaveAreNull() {
        let numbers = [Double.nan, .infinity, 0.5, 1e300].map { Int(bitPattern: UInt($0.bitPattern)) }
        #expect(text(Field(0x13, type: 12, numbers)) == #"{"0x0013":[null,null,0.5,1e+300]}"#)
        #expect(text(Field(0x13, type: 12, [numbers[0]])) == #"{"0x0013":null}"#)
    }

    @Test func firstOfSeveralEqualExifFieldsIsUsed() {
        #expect(text(Field(0x010F, "a"), Field(0x010F, "b"), exif: [Field(0x010F, "c")]) == #"{"Make":"a"}"#)
    }

    @Test func exifFieldsBeyondTheTextLimitAreOmitted() throws {
        let long = String(repeating: "\u{1}", count: 2_000)
        let object = try #require(text(Field(1, long), Field(2, long), Field(3, "short")))
        #expect(object.contains("0x0001") && !object.contains("0x0002"))
        #expect(object.hasSuffix(#"","0x0003":"short"}"#))
        #expect(object.utf8.count <= ExifText.maximumBytes)
    }

    @Test func exifDataWithoutFieldsHasNoText() {
        #expect(text() == nil)
        #expect(ExifText.text(of: []) == nil)
    }
}
