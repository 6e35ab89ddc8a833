import Testing

@testable import webimage

struct SampleKeysTests {
    @Test(arguments: [
        (10_000, 0, 0, "000000000"), (10_000, 3, 9_999, "000039999"), (500, 3, 7, "00003007"), (1, 12, 0, "00012"),
        (1_000, 123_456, 999, "123456999"), (1_001, 0, 1_000, "000001000"),
    ])
    func sampleKeysEqualImg2dataset(perShard: Int, shard: Int, row: Int, key: String) {
        #expect(SampleKeys(samplesPerShard: perShard).key(shard: shard, row: row) == key)
        #expect(SampleKeys(samplesPerShard: perShard).row(of: key, shard: shard) == row)
    }

    @Test(arguments: ["", "00001", "0000100", "0000200", "000010x", "00001-1"])
    func keysOfOtherShardsHaveNoRow(key: String) {
        #expect(SampleKeys(samplesPerShard: 10).row(of: key, shard: 1) == nil)
    }
}
