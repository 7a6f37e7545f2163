internal import Glibc

/// The path of a program of the same build: it lies where the running one does; `nil` where there is none.
package func siblingProgram(_ name: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let own = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = own.lastIndex(of: "/") else { return nil }
    let path = String(own[...slash] + name)
    return access(path, X_OK) == 0 ? path : nil
}
