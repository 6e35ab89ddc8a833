import WebimageConsole

import Glibc

/// Returns the peak memory of this process in bytes, or `nil` if the system does not report it.
func peakMemory() -> Int? {
    // Not getrusage, whose value a process inherits from the one that started it.
    let path = "/proc/self/status"
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let bytes = try? FileDescriptor.read(16_384, from: descriptor, named: path) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let kilobytes = lines.first { $0.hasPrefix("VmHWM:") }?.split { !$0.isNumber }.first
    return kilobytes.flatMap { Int($0) }.map { $0 * 1_024 }
}
