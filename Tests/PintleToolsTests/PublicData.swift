import Glibc

@testable import PintleConsole

/// The folder of the public test data; `nil` if it is not installed.
enum PublicData {
    static let folder: String? = {
        let named = getenv("PINTLE_SHARED_DATA").map { String(cString: $0) } ?? ""
        let beside = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let folder = named.isEmpty ? "/\(beside)/shared/data" : named
        return InputFile.exists("\(folder)/chains") ? folder : nil
    }()
}
