internal import Foundation
public import Pintle

extension TrustRejection {
    /// Finds the verdict inside an error that a task threw or passed to its delegate. Returns `nil` if the error is not
    /// about trust, for example when the device is offline, the name is unknown, or the request timed out.
    ///
    ///     do { _ = try await session.data(from: url) } catch {
    ///         switch TrustRejection(underlying: error) {
    ///         case .pinMismatch(let mismatch): log(mismatch)
    ///         case nil: throw error
    ///         default: showUpdatePrompt()
    ///         }
    ///     }
    ///
    /// Libraries wrap errors. This initializer searches `NSUnderlyingErrorKey` and `NSMultipleUnderlyingErrorsKey`, the
    /// payloads of enums, and the stored properties of errors and of structs inside them. So it finds the verdict
    /// inside Alamofire's `AFError` and the `ClientError` of Swift OpenAPI Runtime.
    ///
    /// It returns the verdict that is closest to the error. The search follows chains of at most 16 errors and looks at
    /// no more than 256 values. It returns `nil` if the verdict lies deeper.
    public init?(underlying error: any Error) {
        guard let rejection = CauseSearch.first(in: error, { $0 as? TrustRejection }) else { return nil }
        self = rejection
    }
}

/// A breadth-first search among the causes of an error.
struct CauseSearch {
    /// The longest chain of errors in which each is the cause of the one before.
    private static let depthLimit = 16
    /// The number of values that one search looks at. An error can hold a whole request, or have itself as its cause.
    private static let valueLimit = 256
    /// The number of elements that one value can contribute, so that one large collection does not use up the limit.
    private static let childLimit = 64

    private struct Candidate {
        let value: Any
        let depth: Int
    }

    /// The order in which values are searched. A cause is more often an underlying error or the payload of an enum than
    /// a part of a request.
    private enum Rank: Int, CaseIterable {
        case error, payload, container
    }

    /// Returns the first match, starting with the error itself and then with the closest cause.
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
        // The cast unwraps an optional error. The optional's own type would hide that it is an NSError.
        if let error = value as? any Error {
            queues[Rank.error.rawValue].append(Candidate(value: error, depth: depth))
        } else if let rank = Self.rank(of: value) {
            queues[rank.rawValue].append(Candidate(value: value, depth: depth))
        }
    }

    private mutating func addChildren(of candidate: Candidate, depth: Int) {
        // An NSError has its causes in the user info. Its stored properties belong to Foundation.
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

    /// Returns the causes under Foundation's keys. Does not read `userInfo` of a plain Swift error, because Foundation
    /// for Linux would first compute the error's descriptions.
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

    /// Returns the rank of a value; `nil` if the search does not look inside. It does not look inside an instance of a
    /// class unless that is an error, because another thread may change the instance at the same time.
    private static func rank(of value: Any) -> Rank? {
        if value is String || value is Data || value is URL || value is [UInt8] { return nil }
        return switch Mirror(reflecting: value).displayStyle {
        case .enum, .tuple, .optional: .payload
        case .struct, .collection, .set, .dictionary: .container
        default: nil
        }
    }
}
