internal import Foundation

/// The received content of a response: in memory or in the file of a download.
struct ResponseContent {
    /// A Boolean value that indicates whether the content is kept in `data`. Otherwise a delegate gets it piece by
    /// piece.
    let isKept: Bool
    var data = Data()
    /// The file of a download, once its response was accepted.
    var file: DownloadFile?

    init(isKept: Bool) {
        self.isKept = isKept
    }

    /// Appends a piece.
    ///
    /// - Returns: `false` if the file cannot be written.
    mutating func append(_ piece: Data) -> Bool {
        if let file { return file.append(piece) }
        if isKept { data.append(piece) }
        return true
    }

    /// Removes and returns all content.
    mutating func removeAll() -> (Data, DownloadFile?) {
        defer { (data, file) = (Data(), nil) }
        return (data, file)
    }
}
