internal import Pintle

extension JSONParser {
    /// Parses a number and appends its node. By default it accepts only integers, because readers disagree on the value
    /// of fractions and exponents.
    mutating func parseNumber() throws(JSONError) {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        guard isDigit(current) else {
            throw error(.malformedNumber, at: start, "a minus sign without a number")
        }
        let firstDigit = current
        position += 1
        if firstDigit == UInt8(ascii: "0"), isDigit(current) {
            throw error(
                .malformedNumber, at: start, "a number with a leading zero", hint: "JSON has no octal; remove the zero")
        }
        while isDigit(current) { position += 1 }

        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits(of: start)
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits(of: start)
        }

        let fits = isInteger && Self.integer(in: bytes[start..<position]) != nil
        guard fits || limits.allowsAnyNumber else {
            throw isInteger
                ? error(
                    .numberOutOfRange, at: start, "a number that does not fit in 64 bits",
                    hint: "at most 9223372036854775807")
                : error(
                    .nonIntegerNumber, at: start, "a number with a fraction or an exponent",
                    hint: "numbers are integers, written in digits")
        }
        nodes.append(.init(kind: fits ? .integer : .number, start: start, end: position, next: nodes.count + 1))
    }

    private mutating func skipDigits(of start: Int) throws(JSONError) {
        guard isDigit(current) else {
            throw error(.malformedNumber, at: start, "a number that breaks off")
        }
        while isDigit(current) { position += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// Returns the value of digits with an optional minus sign, or `nil` if it does not fit.
    static func integer(in text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            // Accumulate the negative value, because `-Int64.min` does not fit.
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.subtractingReportingOverflow(Int64(byte &- UInt8(ascii: "0")))
            guard !tooLarge, !overflow else { return nil }
            value = sum
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }
}
