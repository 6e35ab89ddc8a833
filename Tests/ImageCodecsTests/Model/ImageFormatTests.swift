import ImageCodecs
import Testing

struct ImageFormatTests {
    @Test func builtInFormatsHaveTheirUsualNames() {
        #expect(ImageFormat.allBuiltIn.map(\.name) == ["JPEG", "PNG", "WebP", "GIF", "BMP", "ICO"])
        #expect(ImageFormat.allBuiltIn.map(\.identifier) == ["jpeg", "png", "webp", "gif", "bmp", "ico"])
        #expect(ImageFormat.allBuiltIn.map(\.fileExtension) == ["jpg", "png", "webp", "gif", "bmp", "ico"])
        #expect(
            ImageFormat.allBuiltIn.map(\.mediaType) == [
                "image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/vnd.microsoft.icon",
            ])
    }

    @Test func imageFormatsCanBeDistinguishedInASwitch() {
        let qoi = ImageFormat(name: "QOI", mediaType: "image/qoi", fileExtension: "qoi")
        func place(_ format: ImageFormat) -> Int? {
            switch format {
            case .jpeg: 0
            case .png: 1
            case .webp: 2
            case .gif: 3
            case qoi: 4
            default: nil
            }
        }
        #expect((ImageFormat.allBuiltIn + [qoi]).map(place) == [0, 1, 2, 3, nil, nil, 4])
        #expect(place(ImageFormat(name: "PNG", mediaType: "image/png", fileExtension: "png")) == nil)
    }
}
