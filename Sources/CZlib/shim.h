// zlib as a module, with functions for macros that Swift cannot call.
#include <zlib.h>

static inline int pintle_inflate_init(z_stream *stream, int windowBits) { return inflateInit2(stream, windowBits); }
