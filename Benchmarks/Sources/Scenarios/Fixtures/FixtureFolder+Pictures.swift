import ImageCodecs
import ImageEncoders

extension FixtureFolder {
    /// Returns the name and the path of a JPEG file with a picture of this size.
    ///
    /// The file contains a little less than two bits per pixel.
    func jpeg(
        width: Int, height: Int, isProgressive: Bool = false, number: Int = 0
    ) throws -> (name: String, path: String) {
        try picture(as: .jpeg, width: width, height: height, isProgressive: isProgressive, number: number)
    }

    /// Returns the name and the path of a file in any format with a picture of this size.
    func picture(
        as format: ImageFormat, width: Int, height: Int, isProgressive: Bool = false, number: Int = 0
    ) throws -> (name: String, path: String) {
        let kind = (isProgressive ? "-progressive" : "") + (number > 0 ? "-\(number)" : "")
        let name = "photograph-\(width)x\(height)\(kind).\(format.fileExtension)"
        let path = try file(name) {
            try Photograph.pixels(width: width, height: height, number: number)
                .encoded(as: format, quality: 80, isProgressive: isProgressive)
        }
        return (name, path)
    }
}
