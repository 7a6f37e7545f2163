// The declaration repeats that which Swift derives from macOS's headers, with its optional pointer.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

internal import Glibc

public typealias errno_t = Int32

@discardableResult
public func memset_s(_ start: UnsafeMutableRawPointer!, _ size: Int, _ byte: Int32, _ count: Int) -> errno_t {
    guard byte == 0, count <= size else { return EINVAL }
    explicit_bzero(start, count)
    return 0
}
