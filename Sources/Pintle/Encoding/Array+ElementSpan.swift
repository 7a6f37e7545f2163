extension Array {
    /// The elements as a span that borrows this array, as `span` does.
    ///
    /// Use it instead of `Array.span`, which exists from iOS 26 and macOS 26 on. `ArraySlice.span` is older than the
    /// deployment targets of this package, and its code is emitted into the caller. So no symbol of `Span` is linked.
    @inlinable
    package var elementSpan: Span<Element> {
        @_lifetime(borrow self)
        borrowing get {
            // The slice ends here; its storage is that of this array, which the caller keeps while it uses the span.
            let slice = self[...]
            return _overrideLifetime(slice.span, borrowing: self)  // lint: of a slice, which is older
        }
    }
}
