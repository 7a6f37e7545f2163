# To be sourced, from the repository's root: what programs under a sanitizer need around them.
# Names in stacks, by which leaks are told apart, want the toolchain's symbolizer.
ASAN_SYMBOLIZER_PATH=$(dirname "$(readlink -f "$(command -v swift)")")/llvm-symbolizer
[ -x "$ASAN_SYMBOLIZER_PATH" ] || ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer || true)
LSAN_OPTIONS=suppressions=$PWD/Scripts/leak-suppressions.txt:print_suppressions=0
SWIFT_BACKTRACE=enable=no # Swift's own backtrace waits for the process that the sanitizer has stopped
export ASAN_SYMBOLIZER_PATH LSAN_OPTIONS SWIFT_BACKTRACE
