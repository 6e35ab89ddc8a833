import AsyncWebImage
import Testing

@testable import webimage

struct ImageFailureTests {
    @Test(arguments: [ImageError.Code.corrupt, .encode, .transform, .tooSmall, .tooManyPixels])
    func failureAfterTheDownloadConcernsTheImage(code: ImageError.Code) {
        #expect(ImageFailure(code, "").concernsImage)
    }

    @Test(arguments: [ImageError.Code.status(404), .tooManyBytes, .hashMismatch, .robotsTag])
    func failureOfTheDownloadDoesNotConcernTheImage(code: ImageError.Code) {
        #expect(!ImageFailure(code, "").concernsImage)
    }
}
