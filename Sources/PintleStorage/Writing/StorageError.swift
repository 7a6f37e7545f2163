public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The reason that a file, or what an app has in its place, was not read or not written. Its content does not count.
public struct StorageError: Error, Sendable, Hashable {
    /// The kind of error; stable.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The file exists but cannot be read.
        case unreadable = "unreadable-file"
        /// The path is a folder, a symbolic link, a pipe or a device.
        case notRegular = "not-a-regular-file"
        /// The file belongs to another user.
        case foreignOwner = "foreign-owner"
        /// Other users may write to the file.
        case writableByOthers = "writable-by-others"
        /// The file is larger than its kind allows.
        case tooLarge = "too-large"
        /// Another process held the lock for longer than the caller waits.
        case busy
        /// The device must be unlocked first. Only the Keychain reports this.
        case locked
        /// The folder does not exist or is not writable, the disk is full, or a similar reason.
        case notWritten = "not-written"
    }

    /// The reason, for programs.
    public let code: Code
    /// The file, or the name of another place.
    public let path: String
    /// The problem; lower case, no full stop.
    public let message: String
    /// The remedy.
    public let hint: String

    /// Creates an error, in a storage of the app's own too.
    ///
    /// - Parameters:
    ///   - code: the reason, for programs.
    ///   - path: the file, or the name of another place.
    ///   - message: the problem; lower case, no full stop.
    ///   - hint: the remedy; lower case, no full stop.
    public init(_ code: Code, at path: String, message: String, hint: String) {
        self.code = code
        self.path = path
        self.message = message
        self.hint = hint
    }
}

extension StorageError: CustomStringConvertible {
    /// `path: message; hint`
    public var description: String { "\(path): \(message); \(hint)" }
}

extension StorageError: LocalizedError, DescribedError {}
