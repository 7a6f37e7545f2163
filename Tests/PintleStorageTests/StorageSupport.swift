import FoundationEssentials
import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Synchronization

/// A store in its own folder.
struct StoreScene {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path(of: "trust.json")
    }

    func open(_ events: Events? = nil) throws(TrustStoreError) -> TrustApprovalStore {
        try TrustApprovalStore(path: path) { event in events?.add(event) }
    }

    /// Returns the code of the error with which the store fails to open; `nil` if it opens.
    func refusal() -> String? {
        do throws(TrustStoreError) {
            _ = try open()
            return nil
        } catch {
            return error.code
        }
    }

    var names: [String] {
        guard let stream = opendir(folder.path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt32(status.st_mode & 0o7777) : 0
    }
}

final class Events: Sendable {
    private let list = Mutex<[TrustStoreEvent]>([])

    func add(_ event: TrustStoreEvent) { list.withLock { $0.append(event) } }
    var all: [TrustStoreEvent] { list.withLock { $0 } }
}

extension TrustApproval {
    static func test(
        _ name: String, port: UInt16 = 443, pin: String? = nil, until expiry: Date? = nil
    ) throws -> TrustApproval {
        try TrustApproval(
            .certificate(CertificatePin(certificate: Array((pin ?? name).utf8))),
            for: ServerEndpoint(host: ServerName(name), port: port), at: Date(), until: expiry)
    }
}

extension ServerEndpoint {
    static func test(_ name: String, port: UInt16 = 443) throws -> ServerEndpoint {
        ServerEndpoint(host: try ServerName(name), port: port)
    }
}

/// The program that the tests kill while it works.
enum Victim {
    static let path = siblingProgram("StorageVictim")

    static func run(_ words: String...) throws -> ProcessResult {
        try runProcess([path ?? ""] + words, timeout: 120)
    }
}
