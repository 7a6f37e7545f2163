public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The problems of certificate files. No certificate was taken from any of the files.
public struct CertificateFilesError: Error, Sendable, Hashable {
    /// A single problem.
    public struct Problem: Sendable, Hashable {
        /// The file or folder, as the caller named it.
        public let file: String
        /// The number of the PEM block, from 1; `nil` for DER and for the file as a whole.
        public let block: Int?
        /// The line of the block, from 1.
        public let line: Int?
        /// The problem; lower case, no full stop.
        public let message: String
        /// The remedy.
        public let help: String

        package init(file: String, message: String, help: String) {
            self.file = file
            block = nil
            line = nil
            self.message = message
            self.help = help
        }

        init(_ problem: CertificateBundleError.Problem, in file: String) {
            self.file = file
            block = problem.block
            line = problem.line
            message = problem.message
            help = problem.help
        }

        init(_ error: FileError) {
            self.init(file: error.path, message: error.message, help: error.help)
        }
    }

    /// The problems, at least one, in the order of the files.
    public let problems: [Problem]

    /// The most problems; a longer list would not be read.
    static let maximumProblems = 100

    package init(problems: [Problem]) {
        self.problems = problems
    }

    init(_ error: FileError) {
        problems = [Problem(error)]
    }
}

extension CertificateFilesError.Problem: CustomStringConvertible {
    /// `roots/old.pem: block 2, line 31: a PRIVATE KEY, not a CERTIFICATE; keep only certificates in the file`
    public var description: String {
        let place = [block.map { "block \($0)" }, line.map { "line \($0)" }].compactMap(\.self).joined(separator: ", ")
        return "\(file): \(place.isEmpty ? "" : place + ": ")\(message); \(help)"
    }
}

extension CertificateFilesError: CustomStringConvertible {
    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension CertificateFilesError: LocalizedError, DescribedError {}
