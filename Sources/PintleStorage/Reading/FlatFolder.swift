internal import Pintle

/// The folder of a policy among the resources of an app. Apps have a single resource folder, into which the build
/// copies files from several folders.
///
/// If a file is not at its path, it is read from beside the policy. Two paths with the same last component would then
/// mean the same file, so such a pair is refused.
struct FlatFolder {
    private let folder: PolicyFolder
    /// The first path for each last component, and whether a path with that component was read from beside the policy.
    private var names: [Substring: (first: String, isBeside: Bool)] = [:]
    private var refused: [Substring: FileError] = [:]

    init(_ folder: PolicyFolder) {
        self.folder = folder
    }

    /// Returns the content of a file that the policy names.
    ///
    /// - Parameter name: the path in the policy.
    /// - Throws: an error of the file. Also throws if two paths have the same last component, and one of the two was
    ///   read from beside the policy. Each component is reported once, at the second file.
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

    /// Returns the components of a path, equal for two notations of it such as `a/x.pem` and `./a//x.pem`. Keeps `..`:
    /// if `a` is a symbolic link, `a/../x.pem` may be another file than `x.pem`.
    private static func components(of path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }

    /// Returns a policy's problem with the remedy of the refusal that caused it, if there is one. Otherwise the policy
    /// parser gives the same remedy for every anchor file that cannot be read.
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
            // Only a missing file is looked for beside the policy. A file that exists but cannot be read is not
            // replaced.
            guard error.isMissing, last.utf8.count < name.utf8.count else { throw error }
            do {
                return (try folder.content(of: String(last)), true)
            } catch let other {
                // If neither file exists, report the path in the policy.
                throw other.isMissing ? error : other
            }
        }
    }
}
