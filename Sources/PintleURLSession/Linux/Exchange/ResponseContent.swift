internal import Foundation

/// The content of a response as it arrives: in memory, in the file of a download, or only in a copy for the cache.
struct ResponseContent {
    /// A Boolean value that indicates whether the content is kept here. A delegate gets it piece by piece instead.
    let isKept: Bool
    var data = Data()
    /// The file of a download, once its response was accepted.
    var file: DownloadFile?
    /// The response for the cache, if it is worth storing.
    var candidate: CacheCandidate?

    init(isKept: Bool) {
        self.isKept = isKept
    }

    /// Adds a piece.
    ///
    /// - Parameters:
    ///   - piece: of the content, in order.
    ///   - cacheLimit: in bytes; a larger response is not copied for the cache.
    /// - Returns: `false` where the file cannot be written.
    mutating func append(_ piece: Data, cacheLimit: Int) -> Bool {
        if let file {
            guard file.append(piece) else { return false }
        } else if isKept {
            data.append(piece)
        }
        if let count = candidate?.content?.count, count + piece.count > cacheLimit { candidate = nil }
        candidate?.content?.append(piece)
        return true
    }

    /// Removes the candidate, and returns it with the whole content.
    mutating func removeCandidate() -> (CacheCandidate, Data)? {
        defer { candidate = nil }
        return candidate.map { ($0, $0.content ?? data) }
    }

    /// Removes all content, and returns what was there.
    mutating func removeAll() -> (Data, DownloadFile?) {
        defer { (data, file, candidate) = (Data(), nil, nil) }
        return (data, file)
    }
}
