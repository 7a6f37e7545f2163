internal import Foundation
public import Pintle

extension TrustRejection {
    /// The verdict inside what a task threw or handed to its delegate; `nil` where the error is not about
    /// trust: offline, unknown name, timed out.
    ///
    ///     do { _ = try await session.data(from: url) } catch {
    ///         switch TrustRejection(underlying: error) {
    ///         case .pinMismatch(let mismatch): log(mismatch)
    ///         case nil: throw error
    ///         default: showUpdatePrompt()
    ///         }
    ///     }
    ///
    /// Libraries wrap errors. This initializer looks through `NSUnderlyingErrorKey` and
    /// `NSMultipleUnderlyingErrorsKey`, through the payloads of enums, and through the stored properties of errors and
    /// of structs inside them: Alamofire's `AFError` and the `ClientError` of Swift OpenAPI Runtime are found that way.
    /// It returns the verdict that is closest to the error. It follows at most 16 errors one
    /// behind the other, and looks at 256 values at most. It returns `nil` for a verdict that lies behind more than that.
    public init?(underlying error: any Error) {
        guard let rejection = CauseSearch.first(in: error, { $0 as? TrustRejection }) else { return nil }
        self = rejection
    }
}

/// A breadth-first search among the causes of an error.
struct CauseSearch {
    /// The number of errors, one the cause of the other.
    private static let depthLimit = 16
    /// The number of values that one search looks at. An error can hold a whole request, or name itself as its cause.
    private static let valueLimit = 256
    /// The number of elements that one value can contribute, so that one large collection does not use up the limit.
    private static let childLimit = 64

    private struct Candidate {
        let value: Any
        let depth: Int
    }

    /// A cause lies behind an error or in the payload of an enum more often than inside a request.
    private enum Rank: Int, CaseIterable {
        case error, payload, container
    }

    /// Returns what is found in the cause that is closest to the error, the error itself included.
    static func first<Found>(in error: any Error, _ find: (Any) -> Found?) -> Found? {
        var search = CauseSearch()
        return search.first(in: error, find)
    }

    private var queues = [[Candidate]](repeating: [], count: Rank.allCases.count)
    private var seen: Set<ObjectIdentifier> = []
    private var remaining = valueLimit

    private init() {}

    private mutating func first<Found>(in error: any Error, _ find: (Any) -> Found?) -> Found? {
        add(error, depth: 0)
        while let candidate = next() {
            if let found = find(candidate.value) { return found }
            guard let error = candidate.value as? any Error else {
                addChildren(of: candidate, depth: candidate.depth)
                continue
            }
            guard candidate.depth < Self.depthLimit else { continue }
            for cause in Self.userInfoCauses(of: error) { add(cause, depth: candidate.depth + 1) }
            addChildren(of: candidate, depth: candidate.depth + 1)
        }
        return nil
    }

    private mutating func next() -> Candidate? {
        guard let rank = queues.firstIndex(where: { !$0.isEmpty }) else { return nil }
        return queues[rank].removeFirst()
    }

    private mutating func add(_ value: Any, depth: Int) {
        guard remaining > 0 else { return }
        remaining -= 1
        // The cast unwraps an optional error, whose type would hide that it is an NSError.
        if let error = value as? any Error {
            queues[Rank.error.rawValue].append(Candidate(value: error, depth: depth))
        } else if let rank = Self.rank(of: value) {
            queues[rank.rawValue].append(Candidate(value: value, depth: depth))
        }
    }

    private mutating func addChildren(of candidate: Candidate, depth: Int) {
        // What an NSError holds is its user info. Its stored properties are Foundation's own.
        guard !(type(of: candidate.value) is NSError.Type) else { return }
        var mirror: Mirror? = Mirror(reflecting: candidate.value)
        if mirror?.displayStyle == .class {
            guard seen.insert(ObjectIdentifier(candidate.value as AnyObject)).inserted else { return }
        }
        while let current = mirror, current.subjectType != NSError.self, remaining > 0 {
            for child in current.children.prefix(Self.childLimit) { add(child.value, depth: depth) }
            mirror = current.superclassMirror
        }
    }

    /// Foundation's keys. `userInfo` is not asked of a plain Swift error: Foundation for Linux would compute the
    /// descriptions of the error first.
    private static func userInfoCauses(of error: any Error) -> [any Error] {
        let userInfo: [String: Any]
        if let error = error as? any CustomNSError {
            userInfo = error.errorUserInfo
        } else if type(of: error) is NSError.Type {
            userInfo = (error as NSError).userInfo
        } else {
            return []
        }
        let several = userInfo["NSMultipleUnderlyingErrorsKey"] as? [any Error] ?? []
        return ((userInfo[NSUnderlyingErrorKey] as? any Error).map { [$0] } ?? []) + several.prefix(childLimit)
    }

    /// Returns `nil` for a value that is not looked through. An instance of a class is not, unless it is an error: it may
    /// change on another thread meanwhile.
    private static func rank(of value: Any) -> Rank? {
        if value is String || value is Data || value is URL || value is [UInt8] { return nil }
        return switch Mirror(reflecting: value).displayStyle {
        case .enum, .tuple, .optional: .payload
        case .struct, .collection, .set, .dictionary: .container
        default: nil
        }
    }
}
