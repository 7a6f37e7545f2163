internal import PintleSystem
internal import PintleTestKit

/// The responses to the requests of a surveyed client, so that its flow goes further than the first request.
package struct SurveyAnswers: Sendable {
    /// The folder of `HOST/PATH`; `nil` without one.
    private let folder: String?
    /// A longer file is not an answer.
    private static let sizeLimit = 16 << 20
    private static let depthLimit = 64

    package init(folder: String?) { self.folder = folder }

    /// Returns the file of the request's host and path, or else 200 with `{}` where JSON is accepted, or else 503.
    func response(to request: HTTPRequest, at host: String) -> HTTPResponse {
        if let bytes = file(host, request.target) {
            return HTTPResponse(
                status: 200, reason: "OK", fields: [HTTPField("Content-Type", Self.type(of: bytes))], body: bytes)
        }
        guard Self.acceptsJSON(request["accept"]) else {
            return HTTPResponse(status: 503, reason: "Service Unavailable")
        }
        return HTTPResponse(
            status: 200, reason: "OK", fields: [HTTPField("Content-Type", "application/json")], body: Array("{}".utf8))
    }

    private static func acceptsJSON(_ accept: String?) -> Bool {
        guard let accept else { return true }
        return accept.lowercased().split(separator: ",").contains { item in
            item.contains("json") || item.contains("*/*") || item.contains("application/*")
        }
    }

    private static func type(of bytes: [UInt8]) -> String {
        switch bytes.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): "application/json"
        case UInt8(ascii: "<"): "text/html"
        default: "application/octet-stream"
        }
    }

    /// Returns the content of `HOST/PATH` below the folder. A path that ends with a slash means the file `index` there.
    ///
    /// The client chooses both, so each part is opened by itself: a link, or `..`, leads nowhere.
    private func file(_ host: String, _ target: String) -> [UInt8]? {
        guard let folder else { return nil }
        let path = target.prefix { $0 != "?" && $0 != "#" }
        var parts = [host] + path.split(separator: "/").map(String.init)
        if path.last == "/" || path.isEmpty { parts.append("index") }
        guard parts.count <= Self.depthLimit, parts.allSatisfy(Self.isName), let name = parts.popLast() else {
            return nil
        }
        var descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for part in parts where descriptor >= 0 {
            let next = openat(descriptor, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            close(descriptor)
            descriptor = next
        }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // O_NONBLOCK keeps a pipe from blocking the connection.
        return Self.content(openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
    }

    private static func isName(_ part: String) -> Bool {
        part != "." && part != ".." && part.utf8.count <= 255
            && part.utf8.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "/") }
    }

    private static func content(_ descriptor: Int32) -> [UInt8]? {
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= sizeLimit else {
            return nil
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= sizeLimit {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer.prefix(count)
        }
        return nil
    }
}
