// Scripts/mutants.py copies this file into each module that it mutates. PINTLE_MUTANT has the number of the mutant that
// is on. PINTLE_MUTANTS_REACHED names a file with a byte for each mutant: it becomes 1 when the mutant, were it on,
// would change a value or leave out a statement.
private import Glibc

private let active = getenv("PINTLE_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

// Safe: the mapping lives as long as the process, and each write stores the same value.
private nonisolated(unsafe) let reached: UnsafeMutablePointer<UInt8>? = {
    guard let path = getenv("PINTLE_MUTANTS_REACHED") else { return nil }
    let file = open(path, O_RDWR)
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0 else { return nil }
    defer { close(file) }
    let memory = mmap(nil, Int(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    return memory == MAP_FAILED ? nil : memory?.assumingMemoryBound(to: UInt8.self)
}()

/// Returns whether a mutant is on. `matters` says whether it would change anything here.
@inline(__always) private func isOn(_ number: Int, _ matters: @autoclosure () -> Bool = true) -> Bool {
    if let reached, matters() { reached[number] = 1 }
    return active == number
}

func mutant(_ number: Int) -> Bool { isOn(number) }

func mutant_condition(_ number: Int, _ value: Bool) -> Bool {
    if isOn(number) { return !value }
    if isOn(number + 1, !value) { return true }
    return isOn(number + 2, value) ? false : value
}
func mutant_true(_ number: Int, _ value: Bool) -> Bool { isOn(number, !value) || value }
func mutant_false(_ number: Int, _ value: Bool) -> Bool { !isOn(number, value) && value }
func mutant_flip(_ number: Int, _ value: Bool) -> Bool { isOn(number) != value }

func mutant_less<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> Bool { isOn(number, a == b) ? a <= b : a < b }
func mutant_atMost<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> Bool { isOn(number, a == b) ? a < b : a <= b }
func mutant_greater<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> Bool { isOn(number, a == b) ? a >= b : a > b }
func mutant_atLeast<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> Bool { isOn(number, a == b) ? a > b : a >= b }
func mutant_equal<T: Comparable>(_ number: Int, _ a: T, _ b: T) -> Bool {
    if isOn(number, a < b) { return a <= b }
    return isOn(number + 1, a > b) ? a >= b : a == b
}

func mutant_number<T: Numeric>(_ number: Int, _ value: T) -> T {
    if isOn(number) { return value + 1 }
    return value != 0 && isOn(number + 1) ? value - 1 : value
}
func mutant_nil<T>(_ number: Int, _ value: T?) -> T? { isOn(number, value != nil) ? nil : value }
func mutant_empty<T>(_ number: Int, _ value: [T]) -> [T] { isOn(number, !value.isEmpty) ? [] : value }
func mutant_sum<T>(_ number: Int, _ a: [T], _ b: [T]) -> [T] {
    if isOn(number, !b.isEmpty) { return a }
    return isOn(number + 1, !a.isEmpty) ? b : a + b
}
func mutant_sum<T: FixedWidthInteger>(_ number: Int, _ a: T, _ b: T) -> T {
    if isOn(number, b != 0) { return a }
    return isOn(number + 1, a != 0) ? b : a + b
}
