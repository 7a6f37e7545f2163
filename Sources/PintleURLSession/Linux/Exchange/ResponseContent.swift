internal import Foundation

/// The received content of a response: in memory, in the file of a download, or only in a copy for the cache.
struct ResponseContent {
    /// A Boolean value that indicates whether the content is kept in `data`. Otherwise a delegate gets it piece by
    /// piece.
    let isKept: Bool
    var data = Data()
    /// The file of a download, once its response was accepted.
    var file: DownloadFile?
    /// The response for the cache, if it may be stored.
    var candidate: CacheCandidate?

    init(isKept: Bool) {
        self.isKept = isKept
    }

    /// Appends a piece.
    ///
    /// - Parameters:
    ///   - piece: The next piece of the content.
    ///   - cacheLimit: The size in bytes above which a response is not copied for the cache.
    /// - Returns: `false` if the file cannot be written.
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

    /// Removes the candidate, and returns it with the complete content.
    mutating func removeCandidate() -> (CacheCandidate, Data)? {
        defer { candidate = nil }
        return candidate.map { ($0, $0.content ?? data) }
    }

    /// Removes and returns all content.
    mutating func removeAll() -> (Data, DownloadFile?) {
        defer { (data, file, candidate) = (Data(), nil, nil) }
        return (data, file)
    }
}
