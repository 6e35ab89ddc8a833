// Declarations of names that the samples in documentation comments use; Scripts/samples.sh checks the samples with
// them.
import AsyncWebImage
import Logging
import ServiceLifecycle

let loader = ImageLoader()
let urls: [String] = []
let logger = Logger(label: "samples")
let server: any Service = ImageLoaderService(loader: loader, gracePeriod: .zero)
let file = File()

struct File {
    func append(_ bytes: [UInt8]) throws {}
    func truncate() throws {}
}

func nextPiece() -> [UInt8]? { nil }
func show(_ image: PixelBuffer?, for duration: Duration) {}
