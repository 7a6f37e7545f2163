public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a file was not read or not written. Nothing that such a file holds counts.
public struct StorageError: Error, Sendable, Hashable {
    /// Stable strings.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// It is there, and may not or cannot be read.
        case unreadable = "unreadable-file"
        /// A folder, a symbolic link, a pipe, a device.
        case notRegular = "not-a-regular-file"
        /// It belongs to somebody else.
        case foreignOwner = "foreign-owner"
        /// Others may write into it.
        case writableByOthers = "writable-by-others"
        /// Larger than a file of its kind may be.
        case tooLarge = "too-large"
        /// Another process has held the lock for longer than anybody waits.
        case busy
        /// The device has to be unlocked first: the Keychain alone says so.
        case locked
        /// The folder is not there or may not be written to, the disk is full...
        case notWritten = "not-written"
    }

    /// The reason, for machines.
    public let code: Code
    /// The file that it is about.
    public let path: String
    /// Lower case, no full stop.
    public let message: String
    /// What to do about it.
    public let hint: String

    package init(_ code: Code, _ path: String, _ message: String, hint: String) {
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
