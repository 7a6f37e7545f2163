extension Array {
    /// A span of the elements that borrows this array, like `span`.
    ///
    /// Use it instead of `Array.span`, which requires iOS 26 and macOS 26. `ArraySlice.span` is available on all
    /// deployment targets of this package, and its code is emitted into the caller. So the binary links no symbol of
    /// `Span`.
    @inlinable
    package var elementSpan: Span<Element> {
        @_lifetime(borrow self)
        borrowing get {
            // The slice's lifetime ends here, but its storage is that of this array, which the caller keeps alive while
            // it uses the span.
            let slice = self[...]
            return _overrideLifetime(slice.span, borrowing: self)  // lint: a slice's span, which older systems have
        }
    }
}
