import Foundation

extension URLSessionTask {
    /// Returns `originalRequest`, `currentRequest` or `response`; `nil` for a download task of AVFoundation.
    ///
    /// Those tasks raise an Objective-C exception when the properties are read, which ends the process. Read the three
    /// properties only through this method.
    func ifReadable<Value>(_ property: KeyPath<URLSessionTask, Value?>) -> Value? {
        isAssetDownload ? nil : self[keyPath: property]
    }

    /// The objects belong to private classes, which name these two in `isKind(of:)`. The classes are looked up by name,
    /// so that AVFoundation is not linked, and each time, because it may be loaded later.
    private var isAssetDownload: Bool {
        ["AVAssetDownloadTask", "AVAggregateAssetDownloadTask"].contains { name in
            NSClassFromString(name).map { isKind(of: $0) } ?? false
        }
    }
}
