@testable import AsyncWebImage
import Benchmark

/// The cost of a request's key: parsing the URL, hashing the key, and finding an entry with an equal key.
enum KeyBenchmarks {
    static func register() {
        // Typical URLs do not need libcurl's parser; the others do.
        let plain = (0..<1_000).map { "https://images.example.com/photos/2026/07/landscape-\($0).jpg?width=640" }
        let other = (0..<1_000).map { "https://Images.example.com/photos/a%20b/../landscape-\($0).jpg#top" }
        read(plain, "Key_read_plain_URL")
        read(other, "Key_read_other_URL")

        let keys = plain.compactMap(key)
        Benchmark("Key_hash", configuration: .thousandSteps) { benchmark in
            for index in benchmark.scaledIterations { blackHole(keys[index].hashValue) }
        }

        // The keys are equal but distinct in memory, as if two callers had parsed the URL.
        let known = Dictionary(uniqueKeysWithValues: zip(plain.compactMap(key), 0...))
        Benchmark("Key_find_in_1000", configuration: .thousandSteps) { benchmark in
            for index in benchmark.scaledIterations { blackHole(known[keys[index]]) }
        }
    }

    private static func read(_ texts: [String], _ name: String) {
        Benchmark(name, configuration: .thousandSteps) { benchmark in
            for index in benchmark.scaledIterations { blackHole(try HTTPURL(texts[index])) }
        }
    }

    private static func key(_ text: String) -> FetchKey? {
        (try? HTTPURL(text)).map { FetchKey(url: $0, headerFields: [:]) }
    }
}
