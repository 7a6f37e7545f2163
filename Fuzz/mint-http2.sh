#!/usr/bin/env bash
# Writes seed inputs for the entry that reads a client's HTTP/2 frames, without the preface and the first SETTINGS, into
# the working directory. mint-corpus.sh runs it.
set -euo pipefail
mkdir -p HTTP2
bytes() { printf "$(sed 's/ //g; s/../\\x&/g' <<<"$1")"; }
frame() { bytes "$(printf '%06x' $((${#4} / 2)))$1$2$(printf '%08x' "$3")$4"; } # type flags stream payload
get=828784410161 post=838784410161
{ frame 04 00 0 00040000000a; frame 01 05 1 $get; frame 08 00 0 00000400; frame 08 00 1 00000400; } >HTTP2/windows
{ frame 01 04 1 ${post}0f0d0133; frame 00 08 1 02787878abcd; frame 00 01 1 78; } >HTTP2/content
{ frame 01 01 1 8287; frame 09 00 1 84; frame 09 04 1 410161; } >HTTP2/continuation
{ frame 01 24 3 800000000f$get; frame 02 00 5 000000000f; frame 01 05 3 40017801; frame 03 00 3 00000008; } >HTTP2/trailers
{ frame 06 00 0 0102030405060708; frame 04 01 0 ''; frame 07 00 0 0000000000000000; frame fa 07 9 00; } >HTTP2/control
# Header blocks: RFC 7541 appendices C.4.3 and C.6.1.
{ frame 01 05 1 828684418cf1e3c2e5f23a6ba0ab90f4ff; frame 01 05 3 828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf; } >HTTP2/huffman
bytes 3fe1014882640258 >HTTP2/block
bytes 828785844088 >>HTTP2/block && bytes 25a849e95ba97d7f8925a849e95bb8e8b4bf >>HTTP2/block
