import TestSupport
import Testing

@testable import webimage

struct ShardFolderTests {
    private func options(_ members: (String, Int)...) -> JSONObject {
        var object = JSONObject()
        for (name, value) in members { object.add(name, value) }
        return object
    }

    @Test func conflictNamesTheFirstOptionThatDiffers() throws {
        try withTemporaryFolder { path in
            let folder = try ShardFolder(
                path: path, keys: SampleKeys(samplesPerShard: 10), form: .webdataset, hasSidecar: true, isSorted: true)
            try folder.describe(options(("samples_per_shard", 10), ("max_pixel_size", 256)))
            try folder.describe(options(("samples_per_shard", 10), ("max_pixel_size", 256)))
            let other = #expect(throws: ConflictingRun.self) {
                try folder.describe(options(("samples_per_shard", 10), ("max_pixel_size", 200)))
            }
            #expect(other?.description.contains(" (max_pixel_size was 256): ") == true)
            let additional = #expect(throws: ConflictingRun.self) {
                try folder.describe(options(("samples_per_shard", 10), ("max_pixel_size", 256), ("quality", 80)))
            }
            #expect(additional?.description.contains(" (quality was not set): ") == true)
        }
    }
}
