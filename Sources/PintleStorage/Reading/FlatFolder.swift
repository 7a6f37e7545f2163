internal import Pintle

/// The folder of a policy among the resources of an app, which stand in one folder, whatever folders they came from.
///
/// A file that is not where its path leads is read from beside the policy. Two paths with one last component would then mean
/// the same file, so such a pair is refused.
struct FlatFolder {
    private let folder: PolicyFolder
    /// How a last component was named first, and whether a path with it was read from beside the policy.
    private var names: [Substring: (first: String, isBeside: Bool)] = [:]
    private var refused: [Substring: FileError] = [:]

    init(_ folder: PolicyFolder) {
        self.folder = folder
    }

    /// Returns the content of a file that the policy names.
    ///
    /// - Throws: an error of the file, or one if two paths share their last component and one of the two was read from
    ///   beside the policy. Each component is reported once, at the second file.
    mutating func content(of name: String) throws(FileError) -> [UInt8] {
        guard !name.hasPrefix("/") else { return try folder.content(of: name) }
        let last = name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
        let (content, isBeside) = try read(name, last)
        let known = names[last] ?? (first: name, isBeside: false)
        names[last] = (known.first, known.isBeside || isBeside)
        let isOther = Self.components(of: known.first) != Self.components(of: name)
        if isOther, known.isBeside || isBeside, refused[last] == nil {
            let error = FileError(
                unreadable: String(last), "\(known.first) and \(name) would both be this file beside the policy",
                help: "give the files different names")
            refused[last] = error
            throw error
        }
        return content
    }

    /// Returns the same for two spellings of one relative path, such as `a/x.pem` and `./a//x.pem`. A component `..` stays:
    /// where `a` is a symbolic link, `a/../x.pem` may be another file than `x.pem`.
    private static func components(of path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }

    /// Returns the problem of a policy with the remedy of the refusal that caused it, if one did. A policy's reader gives every
    /// anchor file that cannot be read the same remedy.
    func remedied(_ problem: PolicyProblem) -> PolicyProblem {
        guard let cause = refused.values.first(where: { problem.message.hasSuffix($0.description) }) else {
            return problem
        }
        return PolicyProblem(
            id: problem.id, at: problem.place, line: problem.line, column: problem.column, message: problem.message,
            help: cause.help)
    }

    private func read(_ name: String, _ last: Substring) throws(FileError) -> (content: [UInt8], isBeside: Bool) {
        do {
            return (try folder.content(of: name), false)
        } catch {
            // A file that is there and cannot be read must not be replaced by another.
            guard error.isMissing, last.utf8.count < name.utf8.count else { throw error }
            do {
                return (try folder.content(of: String(last)), true)
            } catch let other {
                // The path that the policy has, where neither file is there.
                throw other.isMissing ? error : other
            }
        }
    }
}
