/// A field of Exif data (CIPA DC-008), such as the exposure time.
package struct ExifField: Sendable, Hashable {
    /// The directories that are read; those of thumbnails and of camera makers are not.
    package enum Directory: Sendable, Hashable {
        /// The first directory, which describes the image (IFD0 of TIFF).
        case image
        /// The directory of Exif, which describes how the image was taken.
        case exif
        /// The directory of the location.
        case gps
    }

    /// A fraction as it is stored; the denominator can be zero.
    package struct Rational: Sendable, Hashable {
        package let numerator: Int
        package let denominator: Int
    }

    /// The content of a field.
    package enum Value: Sendable, Hashable {
        /// Text without the terminating zero and without blanks at its end.
        case text(String)
        /// One or more integers.
        case integers([Int])
        /// One or more fractions.
        case rationals([Rational])
        /// One or more numbers, which may be infinite or not a number.
        case reals([Double])
    }

    package let tag: Int
    package let directory: Directory
    package let value: Value

    /// The name in the standard, such as `ExposureTime`; `nil` if it has none.
    package var name: String? { directory == .gps ? Self.gpsName(tag) : Self.names[tag] }
}
