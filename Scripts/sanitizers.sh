# The environment of programs under a sanitizer. Source this file from the repository's root.
# Leak suppressions match names in stacks, and those names need the toolchain's symbolizer.
ASAN_SYMBOLIZER_PATH=$(dirname "$(readlink -f "$(command -v swift)")")/llvm-symbolizer
[ -x "$ASAN_SYMBOLIZER_PATH" ] || ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer || true)
LSAN_OPTIONS=suppressions=$PWD/Scripts/leak-suppressions.txt:print_suppressions=0
SWIFT_BACKTRACE=enable=no # otherwise Swift's backtrace waits for the process that the sanitizer has stopped
export ASAN_SYMBOLIZER_PATH LSAN_OPTIONS SWIFT_BACKTRACE
