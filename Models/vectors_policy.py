"""The vectors of Specification/policy.md. Each `expect` follows from the rule that stands before it, not from a program."""
import base64
import hashlib
import json
import re

from vectors_update import CA, CB, authority, bare, joined, pin, policy, rule, text

VECTORS = []
H = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
HEX_H = base64.b64decode(H).hex()
EMPTY = '{"version": 1, "hosts": []}'


def vector(number, name, what, problems, *parts, files=None, suffixes=()):
    """`problems` is empty for a policy without one. `files` is what anchors can name, each a text or a list of parts; none if no
    files can be read."""
    files = files if files is None else {path: joined([file] if isinstance(file, str) else file) for path, file in files.items()}
    VECTORS.append(("policy/p%02d-%s" % (number, name), {
        "rule": "P%d" % number, "what": what, "files": files, "publicSuffixes": list(suffixes), "policy": joined(parts),
        "expect": {"answer": "refused", "problems": sorted(problems.split())} if problems else {"answer": "accepted"}}))


def one(number, name, what, problems, rule, **of_vector):
    """A policy with one rule."""
    vector(number, name, what, problems, policy(rule), **of_vector)


def top(**members):
    return text({"version": 1, **members, "hosts": []})


# --- P1 to P3: strict JSON -------------------------------------------------------------------------------------------------

vector(1, "good", "the smallest policy", "", EMPTY)
vector(1, "blanks", "all blanks in all places", "",
    " \t\r\n{ \t\r\n\"version\" \t\r\n: \t\r\n1 \t\r\n, \t\r\n\"hosts\" \t\r\n: \t\r\n[ \t\r\n] \t\r\n} \t\r\n")
vector(1, "most-bytes", "67,108,864 bytes", "", EMPTY, {"repeat": " ", "times": 67108864 - len(EMPTY)})
vector(1, "too-large", "67,108,865 bytes", "too-large", EMPTY, {"repeat": " ", "times": 67108865 - len(EMPTY)})
for name, mark in [
        ("utf-8", "efbbbf"),
        ("utf-16-big", "feff"),
        ("utf-16-little", "fffe")]:
    vector(1, "byte-order-mark-" + name, "a byte order mark: " + name, "byte-order-mark", {"hex": mark}, EMPTY)
vector(1, "byte-order-mark-only", "nothing but a byte order mark", "byte-order-mark", {"hex": "efbbbf"})
vector(1, "byte-order-mark-behind-blank", "a byte order mark behind a blank", "unexpected-character", " ", {"hex": "efbbbf"},
    EMPTY)
JSON = {
    "empty-document": [
        ("no-byte", ""),
        ("blanks", " \n\t\r")],
    "unexpected-end": [
        ("object", '{"version": 1'),
        ("list", '{"version": 1, "hosts": ['),
        ("behind-colon", '{"version":'),
        ("behind-key", '{"version"'),
        ("behind-comma", '{"version": 1,'),
        ("string", '{"version": "1'),
        ("brace", "{"),
        ("in-key", '{"ver'),
        ("behind-blanks", '{"version": 1, "hosts": [  ')],
    "comment": [
        ("first", "// x\n" + EMPTY),
        ("hash-first", "# x\n" + EMPTY),
        ("in-object", '{/* x */"version": 1, "hosts": []}'),
        ("behind-value", '{"version": 1 /* x */, "hosts": []}'),
        ("before-value", '{"version": # one\n1, "hosts": []}'),
        ("in-list", '{"version": 1, "hosts": [// x\n]}'),
        ("behind-number", '{"version": 1/2, "hosts": []}'),
        ("behind", EMPTY + " // x"),
        ("hash-behind", EMPTY + "# x")],
    "trailing-comma": [
        ("object", '{"version": 1, "hosts": [],}'),
        ("list", '{"hosts": [1,], "version": 1}'),
        ("blank", '{"version": 1, "hosts": [] , }')],
    "trailing-content": [
        ("value", EMPTY + " 1"),
        ("brace", EMPTY + "}"),
        ("zero", EMPTY + "\0"),
        ("comma", EMPTY + ","),
        ("second", EMPTY + EMPTY),
        ("not-ascii", EMPTY + "\u00e9"),
        ("form-feed", EMPTY + "\f")],
    "too-deep": [
        ("lists", "[" * 17 + "]" * 17),
        ("objects", '{"x": ' * 17 + "0" + "}" * 17),
        ("in-policy", '{"version": 1, "hosts": [], "x": ' + "[" * 16 + "]" * 16 + "}"),
        ("before-other-error", "[" * 17 + "!")],
    "duplicate-key": [
        ("plain", '{"version": 1, "hosts": [], "version": 1}'),
        ("escaped", '{"version": 1, "hosts": [], "\\u0076ersion": 1}'),
        ("unknown", '{"version": 1, "hosts": [], "x": 1, "x": 2}'),
        ("in-rule", '{"version": 1, "hosts": [{"host": "a.example", "host": "b.example"}]}'),
        ("empty-key", '{"": 1, "": 2}'),
        ("inner-first", '{"x": {"a": 1, "a": 2}, !'),
        ("surrogates", '{"\\ud83d\\ude00": 1, "\U0001f600": 2}')],
    "malformed-number": [
        ("leading-zero", '{"version": 01, "hosts": []}'),
        ("minus", '{"version": -, "hosts": []}'),
        ("minus-zero-one", '{"version": -01, "hosts": []}'),
        ("dot", '{"version": 1., "hosts": []}'),
        ("exponent", '{"version": 1e, "hosts": []}'),
        ("exponent-sign", '{"version": 1e+, "hosts": []}'),
        ("minus-word", '{"version": -Infinity, "hosts": []}'),
        ("two-minus", '{"version": --1, "hosts": []}'),
        ("ends", '{"version": -'),
        ("ends-in-dot", '{"version": 1.'),
        ("exponent-of-fraction", '{"version": 1.5e, "hosts": []}'),
        ("word-in-exponent", '{"version": 1.0ex, "hosts": []}'),
        ("dot-of-many-digits", '{"version": 99999999999999999999., "hosts": []}'),
        ("minus-dot", '{"version": -.5, "hosts": []}')],
    "non-integer-number": [
        ("fraction", '{"version": 1.0, "hosts": []}'),
        ("exponent", '{"version": 1e0, "hosts": []}'),
        ("upper", '{"version": 1E2, "hosts": []}'),
        ("exponent-plus", '{"version": 1e+2, "hosts": []}'),
        ("exponent-minus", '{"version": 1e-2, "hosts": []}'),
        ("huge", '{"version": 1e400, "hosts": []}'),
        ("and-dot", '{"version": 1.5., "hosts": []}'),
        ("and-letter", '{"version": 1.5x, "hosts": []}'),
        ("many-digits", '{"version": 100000000000000000000.5, "hosts": []}'),
        ("unknown-member", '{"version": 1, "hosts": [], "x": 0.5}')],
    "number-out-of-range": [
        ("above", '{"version": 9223372036854775808, "hosts": []}'),
        ("below", '{"version": -9223372036854775809, "hosts": []}'),
        ("digits", '{"version": 1%s, "hosts": []}' % ("0" * 99))],
    "control-character": [
        ("line-feed", '{"$schema": "a\nb", "version": 1, "hosts": []}'),
        ("tab", '{"$schema": "a\tb", "version": 1, "hosts": []}'),
        ("zero", '{"$schema": "\0", "version": 1, "hosts": []}'),
        ("1f", '{"$schema": "\x1f", "version": 1, "hosts": []}'),
        ("in-key", '{"vers\nion": 1, "hosts": []}')],
    "invalid-escape": [
        ("x", '{"$schema": "\\x41", "version": 1, "hosts": []}'),
        ("quote", '{"$schema": "\\\'", "version": 1, "hosts": []}'),
        ("no-digit", '{"$schema": "\\u00g0", "version": 1, "hosts": []}'),
        ("upper-u", '{"$schema": "\\U0041", "version": 1, "hosts": []}'),
        ("ends", '{"$schema": "\\'),
        ("ends-in-digits", '{"$schema": "\\u00'),
        ("short", '{"$schema": "\\u41", "version": 1, "hosts": []}'),
        ("zero", '{"$schema": "\\0", "version": 1, "hosts": []}'),
        ("line-feed", '{"$schema": "\\\n", "version": 1, "hosts": []}')],
    "lone-surrogate": [
        ("high", '{"$schema": "\\ud800", "version": 1, "hosts": []}'),
        ("low", '{"$schema": "\\udc00", "version": 1, "hosts": []}'),
        ("high-and-letter", '{"$schema": "\\ud800\\u0041", "version": 1, "hosts": []}'),
        ("two-high", '{"$schema": "\\ud800\\ud800", "version": 1, "hosts": []}'),
        ("high-and-bad-digits", '{"$schema": "\\ud800\\u00g0", "version": 1, "hosts": []}'),
        ("high-and-bad-escape", '{"$schema": "\\ud800\\x", "version": 1, "hosts": []}'),
        ("high-and-letters", '{"$schema": "\\ud800udc00", "version": 1, "hosts": []}'),
        ("high-and-last-high", '{"$schema": "\\ud800\\udbff", "version": 1, "hosts": []}'),
        ("high-and-upper-u", '{"$schema": "\\ud800\\Udc00", "version": 1, "hosts": []}'),
        ("last-high", '{"$schema": "\\udbff", "version": 1, "hosts": []}'),
        ("last-low", '{"$schema": "\\udfff", "version": 1, "hosts": []}'),
        ("high-and-next-but-low", '{"$schema": "\\ud800\\ue000", "version": 1, "hosts": []}'),
        ("high-and-end", '{"$schema": "\\ud800'),
        ("high-and-end-in-escape", '{"$schema": "\\ud800\\u12'),
        ("high-and-end-in-low", '{"$schema": "\\ud800\\udc0'),
        ("exchanged", '{"$schema": "\\udc00\\ud800", "version": 1, "hosts": []}'),
        ("in-key", '{"\\udfff": 1}')],
    "unexpected-character": [
        ("word", "policy"),
        ("single-quotes", "{'version': 1}"),
        ("bare-key", "{version: 1}"),
        ("upper-word", '{"x": True}'),
        ("nan", '{"x": NaN}'),
        ("no-colon", '{"version" 1}'),
        ("no-comma", '{"version": 1 "hosts": []}'),
        ("no-comma-in-list", "[1 2]"),
        ("bracket", "]"),
        ("other-bracket", '{"hosts": [}'),
        ("lone-comma", "[,]"),
        ("two-commas", "[1,,2]"),
        ("comma-and-other-bracket", '{"hosts": [1,}'),
        ("hexadecimal", '{"version": 0x1, "hosts": []}'),
        ("colon-as-value", '{"version": :1, "hosts": []}'),
        ("number-and-colon", '{"version": 1:2, "hosts": []}'),
        ("number-and-letter", '{"version": 1x, "hosts": []}'),
        ("not-ascii", '{"version": \u00e9, "hosts": []}'),
        ("comma-first", '{,"version": 1}'),
        ("plus", '{"version": +1}'),
        ("dot", '{"version": .5}'),
        ("form-feed", "\f" + EMPTY),
        ("no-break-space", "\u00a0" + EMPTY),
        ("zero", "\0" + EMPTY),
        ("cut-word", '{"x": tru'),
        ("number-as-key", "{1: 2}"),
        ("duplicate-and-later-error", '{"x": 1, "x": 2, "y": !}'),
        ("equals", '{"version" = 1}'),
        ("word-too-long", '{"x": nullx}')]}
for problem, cases in JSON.items():
    for name, content in cases:
        vector(1, problem + "-" + name, "strict JSON", problem, content)
for name, hexadecimal in [
        ("ff", "ff"),
        ("overlong", "c0af"),
        ("overlong-3", "e080af"),
        ("surrogate", "eda080"),
        ("beyond", "f4908080"),
        ("cut", "e282"),
        ("continuation", "80"),
        ("f5", "f5808080"),
        ("overlong-last", "c1bf"),
        ("second-of-2-low", "c27f"),
        ("second-of-2-high", "c2c0"),
        ("overlong-3-last", "e09fbf"),
        ("second-of-3-low", "ee7f80"),
        ("second-of-3-high", "eec080"),
        ("third-of-3-low", "e1807f"),
        ("third-of-3-high", "e180c0"),
        ("surrogate-last", "edbfbf"),
        ("overlong-4-last", "f08fbfbf"),
        ("second-of-4-low", "f17f8080"),
        ("second-of-4-high", "f1c08080"),
        ("third-of-4-low", "f1807f80"),
        ("third-of-4-high", "f180c080"),
        ("fourth-of-4-low", "f180807f"),
        ("fourth-of-4-high", "f18080c0")]:
    vector(1, "invalid-utf8-" + name, "bytes in a string that are no UTF-8", "invalid-utf8", '{"$schema": "',
        {"hex": hexadecimal}, '", "version": 1, "hosts": []}')
for name, what, parts in [
        ("cut-by-end", "a character of three bytes in a string, cut by the end of the text", ['{"$schema": "', {"hex": "e282"}]),
        ("cut-by-end-in-object", "a character of three bytes in place of a key, cut by the end of the text", ["{", {"hex": "e282"}]),
        ("first", "a byte before the value that is no UTF-8", [{"hex": "ff"}, EMPTY]),
        ("as-value", "a byte in place of a value that is no UTF-8", ['{"version": ', {"hex": "80"}, "}"]),
        ("behind", "a byte behind the value that is no UTF-8", [EMPTY, {"hex": "ff"}]),
        ("cut-behind", "a character of three bytes behind the value, cut by the end of the text", [EMPTY, {"hex": "e282"}])]:
    vector(1, "invalid-utf8-" + name, what, "invalid-utf8", *parts)
vector(1, "invalid-utf8-in-key", "a byte in a key that is no UTF-8", "invalid-utf8", '{"x', {"hex": "ff"}, '": 1}')
vector(1, "most-deep", "depth 16, in an unknown member", "unknown-key",
    '{"version": 1, "hosts": [], "x": ' + "[" * 15 + "]" * 15 + "}")
vector(1, "highest-integer", "2^63 - 1 is an integer, and no version of an update", "invalid-update-version",
    top(updateVersion=2**63 - 1))
vector(1, "lowest-integer", "-2^63 is an integer, and no version of an update", "invalid-update-version",
    top(updateVersion=-2**63))
vector(1, "escapes", "all escapes of RFC 8259", "",
    '{"$schema": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\\ud83d\\ude00", "version": 1, "hosts": []}')
vector(1, "bytes-above-1f", "the bytes 7F to F4 8F BF BF in a string", "",
    '{"$schema": "\x7f\u0080\uffff\U0010ffff", "version": 1, "hosts": []}')
vector(1, "first-and-last-of-each-length", "the first and the last characters of two, three and four bytes", "",
    '{"$schema": "\u0080\u07ff\u0800\u0fff\u1000\ud7ff\ue000\uffff\U00010000\U0003ffff\U00040000\U000fffff\U00100000\U0010ffff", '
    '"version": 1, "hosts": []}')
vector(1, "first-and-last-surrogates", "escapes of the first and the last pairs of surrogates, and of their neighbours", "",
    '{"$schema": "\\ud800\\udc00\\udbff\\udfff\\ud7ff\\ue000", "version": 1, "hosts": []}')
vector(2, "escaped-keys", "keys written with escapes", "", '{"\\u0076ersion": 1, "host\\u0073": []}')
vector(2, "normalization", "two keys that are one only after normalization", "unknown-key unknown-key",
    '{"version": 1, "hosts": [], "\u00e9": 1, "e\u0301": 1}')
vector(2, "case", "a key in another case", "unknown-key", '{"version": 1, "hosts": [], "Version": 1}')
vector(2, "one-problem", "reading stops at the first error", "malformed-number", '{"version": 01, "hosts": [], "x": tru, "x": 1}')

# --- P4, P5: base64 and dates ----------------------------------------------------------------------------------------------

RULE = rule("a.example")
PIN = pin(1)
HASH = PIN[7:]


def pinned(text, **more):
    return {**RULE, "pins": [text], **more}


def starts_with_slash():
    n = 0
    while not (hash := base64.b64encode(hashlib.sha256(b"slash %d" % n).digest()).decode()).startswith("/"):
        n += 1
    return hash


def special():
    """A hash with both + and /, for the other alphabet."""
    n = 0
    while "+" not in (hash := base64.b64encode(hashlib.sha256(b"special %d" % n).digest()).decode()) or "/" not in hash:
        n += 1
    return hash


SLASH, SPECIAL = starts_with_slash(), special()
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def next_character(text):
    return text[:-2] + ALPHABET[ALPHABET.index(text[-2]) + 1] + text[-1]


def encoded(size):
    return base64.b64encode(bytes(range(size))).decode()


one(4, "padding-absent", "a pin without padding", "", pinned(PIN[:-1]))
one(4, "url-safe", "a pin in the alphabet of RFC 4648 section 5", "", pinned("sha256/" + SPECIAL.replace("+", "-").replace("/",
    "_")))
one(4, "mixed", "a pin in both alphabets", "invalid-pin", pinned("sha256/" + SPECIAL.replace("+", "-")))
one(4, "more-padding", "a pin with two characters of padding in place of one", "invalid-pin", pinned(PIN + "="))
one(4, "padding-first", "a pin with its padding at the beginning", "invalid-pin", pinned("sha256/=" + HASH[:-1]))
one(4, "one-character", "one character more than whole bytes have", "invalid-pin", pinned("sha256/" + "A" * 45))
one(4, "blank-behind", "a blank behind a pin", "invalid-pin", pinned(PIN + " "))
one(4, "blank-before", "a blank before a pin", "invalid-pin", pinned(" " + PIN))
one(4, "line-feed", "a line feed in a pin", "invalid-pin", pinned(PIN[:20] + "\n" + PIN[20:]))


DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def ending(date):
    return {**RULE, "expiry": {"after": date, "then": "reject"}}


for name, date in [
        ("z", "2027-11-20T00:00:00Z"),
        ("lower", "2027-11-20t00:00:00z"),
        ("offset", "2027-11-20T00:00:00+01:00"),
        ("fraction", "2027-11-20T00:00:00.1Z"),
        ("fraction-9", "2027-11-20T00:00:00.123456789Z"),
        ("leap", "2028-02-29T00:00:00Z"),
        ("leap-2000", "2000-02-29T00:00:00Z"),
        ("minute-59", "2027-11-20T23:59:59+00:59"),
        *[("last-of-%02d" % (n + 1), "2027-%02d-%dT00:00:00Z" % (n + 1, last)) for n, last in enumerate(DAYS)],
        ("first", "0000-01-01T00:00:00Z"),
        ("last", "9999-12-31T23:59:59Z"),
        ("offset-most", "2027-11-20T00:00:00+23:59"),
        ("minus-zero", "2027-11-20T00:00:00-00:00")]:
    one(5, "date-" + name, "the date " + date, "", ending(date))
for name, date in [
        ("empty", ""),
        ("no-zone", "2027-11-20T00:00:00"),
        ("day", "2027-11-20"),
        ("blank", "2027-11-20 00:00:00Z"),
        ("leap", "2027-02-29T00:00:00Z"),
        ("leap-1900", "1900-02-29T00:00:00Z"),
        ("day-31", "2027-04-31T00:00:00Z"),
        *[("behind-last-of-%02d" % (n + 1), "2027-%02d-%dT00:00:00Z" % (n + 1, last + 1)) for n, last in enumerate(DAYS)],
        ("leap-day-30", "2028-02-30T00:00:00Z"),
        ("day-0", "2027-11-00T00:00:00Z"),
        ("month-0", "2027-00-01T00:00:00Z"),
        ("minute-60", "2027-11-20T00:60:00Z"),
        ("month-13", "2027-13-01T00:00:00Z"),
        ("hour-24", "2027-11-20T24:00:00Z"),
        ("second-60", "2027-12-31T23:59:60Z"),
        ("offset-24", "2027-11-20T00:00:00+24:00"),
        ("offset-60", "2027-11-20T00:00:00+00:60"),
        ("fraction-0", "2027-11-20T00:00:00.Z"),
        ("fraction-10", "2027-11-20T00:00:00.1234567890Z"),
        ("before", " 2027-11-20T00:00:00Z"),
        ("behind", "2027-11-20T00:00:00Z\n"),
        ("comma", "2027-11-20T00:00:00,1Z"),
        ("no-dashes", "20271120T000000Z"),
        ("week", "2027-W47-6T00:00:00Z")]:
    one(5, "no-date-" + name, "the text %s is no date" % json.dumps(date), "invalid-date", ending(date))

# --- P8, P9: pins ----------------------------------------------------------------------------------------------------------

FINGERPRINT = hashlib.sha256(b"certificate").hexdigest()
WHITE_SPACE = "\t\n\v\f\r \u0085\u00a0\u1680%s\u2028\u2029\u202f\u205f\u3000" % "".join(map(chr, range(0x2000, 0x200b)))
COLONS = ":".join(FINGERPRINT[n:n + 2] for n in range(0, 64, 2))
for name, what, pin_text, problem in [
        ("good", "sha256/ and base64", PIN, ""),
        ("bare", "base64 without a prefix", HASH, ""),
        ("http", "the form of HTTP", 'pin-sha256="%s"' % HASH, ""),
        ("http-no-quotes", "the form of HTTP without quotes", "pin-sha256=" + HASH, ""),
        ("http-one-quote", "the form of HTTP with one quote", 'pin-sha256="' + HASH, "invalid-pin"),
        ("http-last-quote", "the form of HTTP with one quote at its end", "pin-sha256=x%s\"" % HASH, "invalid-pin"),
        ("http-single-quotes", "the form of HTTP with single quotes", "pin-sha256='%s'" % HASH, "invalid-pin"),
        ("http-two-pairs", "the form of HTTP with two pairs of quotes", 'pin-sha256=""%s""' % HASH, "invalid-pin"),
        ("quotes-only", "quotes without the form of HTTP", '"%s"' % HASH, "invalid-pin"),
        ("both-prefixes", "both prefixes", "pin-sha256=" + PIN, "invalid-pin"),
        ("two-slashes", "sha256// and base64", "sha256//" + HASH, ""),
        ("two-slashes-no-padding", "sha256// and base64 without padding", "sha256//" + HASH[:-1], ""),
        ("three-slashes", "sha256/// and base64", "sha256///" + HASH, "invalid-pin"),
        ("hash-with-slash", "sha256/ and a hash that begins with a slash", "sha256/" + SLASH, ""),
        ("hash-with-slash-no-padding", "sha256/ and a hash that begins with a slash, without padding", "sha256/" + SLASH[:-1],
            ""),
        ("two-slashes-and-hash-with-slash", "sha256// and a hash that begins with a slash", "sha256//" + SLASH, ""),
        ("empty", "no character", "", "invalid-pin"),
        ("prefix-only", "only the prefix", "sha256/", "invalid-pin"),
        ("two-slashes-only", "only the prefix and a slash", "sha256//", "invalid-pin"),
        ("http-only", "only the form of HTTP", 'pin-sha256=""', "invalid-pin"),
        ("sha1", "SHA-1", "sha1/" + HASH, "unsupported-hash"),
        ("sha384", "SHA-384", "sha384/" + HASH, "unsupported-hash"),
        ("sha512", "SHA-512", "sha512/" + HASH, "unsupported-hash"),
        ("md5", "MD5", "md5/" + HASH, "unsupported-hash"),
        ("sha1-and-mark", "a combining mark behind the prefix of SHA-1", "sha1/\u0301", "unsupported-hash"),
        ("mark-last", "a combining mark behind a hash", PIN + "\u0301", "invalid-pin"),
        ("mark-behind-prefix", "a combining mark behind the prefix", "sha256/\u0301" + HASH, "invalid-pin"),
        ("sha1-empty", "only the prefix of SHA-1", "sha1/", "unsupported-hash"),
        ("sha1-in-http", "SHA-1 in the form of HTTP", 'pin-sha1="%s"' % HASH, "invalid-pin"),
        ("upper-prefix", "the prefix in upper case", "SHA256/" + HASH, "invalid-pin"),
        ("upper-sha1", "SHA-1 in upper case", "SHA1/" + HASH, "invalid-pin"),
        ("sha3", "an unknown prefix", "sha3-256/" + HASH, "invalid-pin"),
        ("hexadecimal", "32 bytes in hexadecimal", FINGERPRINT, "invalid-pin"),
        ("prefix-and-hexadecimal", "sha256/ and 32 bytes in hexadecimal", "sha256/" + FINGERPRINT, "invalid-pin"),
        ("colons", "32 bytes in hexadecimal with colons", COLONS, "invalid-pin"),
        ("hexadecimal-of-no-bytes", "the hash of no bytes in hexadecimal", HEX_H, "empty-input-pin"),
        ("hexadecimal-of-no-bytes-upper", "the hash of no bytes in hexadecimal, in upper case", HEX_H.upper(), "empty-input-pin"),
        ("non-canonical", "a bit that belongs to no byte is set", "sha256/" + next_character(HASH), "non-canonical-pin"),
        ("non-canonical-no-padding", "a bit that belongs to no byte is set, without padding",
            "sha256/" + next_character(HASH)[:-1], "non-canonical-pin"),
        ("non-canonical-short", "a bit that belongs to no byte is set, in one byte", "sha256/AB==", "invalid-pin"),
        ("of-no-bytes", "the hash of no bytes", "sha256/" + H, "empty-input-pin"),
        ("of-no-bytes-non-canonical", "the hash of no bytes with a bit that belongs to no byte", "sha256/" + next_character(H),
            "non-canonical-pin"),
        ("characters", "characters of no alphabet", "sha256/" + "!" * 43 + "=", "invalid-pin"),
        ("1-byte", "one byte", "sha256/AA==", "wrong-pin-length"),
        ("31-bytes", "31 bytes", "sha256/" + encoded(31), "wrong-pin-length"),
        ("33-bytes", "33 bytes", "sha256/" + encoded(33), "wrong-pin-length"),
        ("20-bytes", "20 bytes", "sha256/" + encoded(20), "wrong-pin-length"),
        ("sha1-in-hexadecimal", "20 bytes in hexadecimal", FINGERPRINT[:40], "wrong-pin-length"),
        ("prefix-twice", "the prefix twice", "sha256/" + PIN, "invalid-pin"),
        ("sha1-behind-http", "SHA-1 behind the form of HTTP", "pin-sha256=sha1/" + HASH, "invalid-pin"),
        ("of-no-bytes-no-padding", "the hash of no bytes without padding", H[:-1], "empty-input-pin"),
        ("1024-bytes", "1,024 characters of base64", "A" * 1024, "wrong-pin-length"),
        ("1025-bytes", "sha256/ and 1,018 characters of base64", "sha256/" + "A" * 1018, "invalid-pin"),
        ("1026-bytes", "1,026 characters of base64", "A" * 1026, "invalid-pin"),
        ("full-width", "a full-width letter", "sha256/\uff21" + HASH[1:], "invalid-pin")]:
    one(8, name, "a pin of a key: " + what, problem, pinned(pin_text))
one(8, "issuer-key", "issuerKey is read as a pin of a key", "", {**RULE, "issuerKey": HASH})
one(8, "issuer-key-wrong", "issuerKey of 31 bytes", "wrong-pin-length", {**RULE, "issuerKey": "sha256/" + encoded(31)})
one(8, "issuer-key-of-no-bytes", "issuerKey is the hash of no bytes", "empty-input-pin", {**RULE, "issuerKey": "sha256/" + H})
one(8, "object", "an object with spki", "", pinned({"spki": HASH}))
one(8, "backup", "a backup pin of 31 bytes", "wrong-pin-length", {**RULE, "backupPins": ["sha256/" + encoded(31)]})
for name, what, pin_text, problem in [
        ("plain", "64 digits", FINGERPRINT, ""),
        ("upper", "64 digits in upper case", FINGERPRINT.upper(), ""),
        ("colons", "digits with colons", COLONS, ""),
        ("openssl", "the output of openssl", "sha256 Fingerprint=" + COLONS.upper(), ""),
        ("old-openssl", "SHA256 in upper case", "SHA256 Fingerprint=" + COLONS.upper(), ""),
        ("dash", "sha-256 and a colon", "SHA-256: " + COLONS, ""),
        ("name-and-space", "sha256 and a space", "sha256 " + FINGERPRINT, ""),
        ("name-and-colon", "sha256 and a colon", "sha256:" + FINGERPRINT, ""),
        ("name-without-space", "sha256 and a digit", "sha256" + FINGERPRINT, "invalid-pin"),
        ("word-only", "fingerprint without sha256", "Fingerprint=" + COLONS, "invalid-pin"),
        ("two-equals", "two signs behind the name", "sha256 Fingerprint==" + COLONS, "invalid-pin"),
        ("name-only", "only the name", "sha256", "invalid-pin"),
        ("name-and-word", "sha256 fingerprint and a space", "sha256 fingerprint " + FINGERPRINT, ""),
        ("name-joined-word", "sha256fingerprint and a sign", "sha256fingerprint=" + FINGERPRINT, ""),
        ("word-without-space", "sha256 fingerprint and a digit", "sha256 fingerprint" + FINGERPRINT, ""),
        ("joined-word-and-space", "sha256fingerprint and a space", "sha256fingerprint " + FINGERPRINT, "invalid-pin"),
        ("joined-word-only", "only sha256fingerprint", "sha256fingerprint", "invalid-pin"),
        ("mark-on-first-blank", "a combining mark on a blank at the beginning", " \u0301" + FINGERPRINT, "invalid-pin"),
        ("joiner-on-first-blank", "a joiner behind a blank at the beginning", " \u200d" + FINGERPRINT, "invalid-pin"),
        ("mark-on-last-blank", "a combining mark on a blank at the end", FINGERPRINT + " \u0301", "invalid-pin"),
        ("mark-in-name", "a combining mark on the name", "sha256\u0301 " + FINGERPRINT, "invalid-pin"),
        ("line-ends-around", "line ends of two bytes around", "\r\n" + FINGERPRINT + "\r\n", ""),
        ("name-and-word-only", "only sha256 fingerprint", "sha256 fingerprint", "invalid-pin"),
        ("space-and-colon", "sha256, a space and a colon", "sha256 : " + FINGERPRINT, ""),
        ("name-twice", "the name twice", "sha256 sha256 " + FINGERPRINT, "invalid-pin"),
        ("name-and-equals-only", "only the name and a sign", "sha256=", "invalid-pin"),
        ("slash", "the prefix of a pin of a key", "sha256/" + FINGERPRINT, "invalid-pin"),
        ("sha1", "another name", "sha1 Fingerprint=" + COLONS, "invalid-pin"),
        ("spaces-first", "spaces at the beginning", " \t\n\u00a0\u200e\u3000" + FINGERPRINT, ""),
        ("all-white-space", "each character of White_Space around", WHITE_SPACE + FINGERPRINT + WHITE_SPACE, ""),
        ("information-separator", "U+001C at the beginning", "\x1c" + FINGERPRINT, "invalid-pin"),
        ("zero-width-space", "U+200B at the beginning", "\u200b" + FINGERPRINT, "invalid-pin"),
        ("vowel-separator", "U+180E at the beginning", "\u180e" + FINGERPRINT, "invalid-pin"),
        ("byte-order-mark", "U+FEFF at the beginning", "\ufeff" + FINGERPRINT, "invalid-pin"),
        ("spaces-last", "white space at the end", FINGERPRINT + " \u00a0\n", ""),
        ("mark-last", "U+200E at the end", FINGERPRINT + "\u200e", "invalid-pin"),
        ("spaces-in-name", "a no-break space behind the name", "sha256\u00a0Fingerprint\u00a0=\u200e" + COLONS, ""),
        ("blanks-between", "blanks between bytes", COLONS.replace(":", " \t"), ""),
        ("blanks-and-colon", "blanks around colons", COLONS.replace(":", " : "), ""),
        ("two-colons", "two colons between two bytes", COLONS.replace(":", "::", 1), "invalid-pin"),
        ("no-break-space-between", "a no-break space between bytes", COLONS.replace(":", "\u00a0", 1), "invalid-pin"),
        ("inside-byte", "a blank inside of a byte", FINGERPRINT[0] + " " + FINGERPRINT[1:], "invalid-pin"),
        ("63-digits", "63 digits", FINGERPRINT[:63], "invalid-pin"),
        ("colon-last", "a colon at the end", COLONS + ":", "invalid-pin"),
        ("colon-first", "a colon at the beginning", ":" + COLONS, "invalid-pin"),
        ("dashes", "dashes between bytes", COLONS.replace(":", "-"), "invalid-pin"),
        ("31-bytes", "31 bytes", FINGERPRINT[2:], "wrong-pin-length"),
        ("33-bytes", "33 bytes", FINGERPRINT + "00", "wrong-pin-length"),
        ("20-bytes", "20 bytes", FINGERPRINT[:40], "wrong-pin-length"),
        ("of-no-bytes", "the hash of no bytes", HEX_H, "empty-input-pin"),
        ("base64", "base64", HASH, "invalid-pin"),
        ("empty", "no character", "", "invalid-pin"),
        ("spaces-only", "only spaces", "  ", "invalid-pin"),
        ("prefix-0x", "0x before the digits", "0x" + FINGERPRINT, "invalid-pin"),
        ("full-width", "a full-width digit", "\uff10" + FINGERPRINT[1:], "invalid-pin"),
        ("1024-bytes", "1,024 bytes, most of them spaces", " " * 960 + FINGERPRINT, ""),
        ("1025-bytes", "1,025 bytes, most of them spaces", " " * 961 + FINGERPRINT, "invalid-pin"),
        ("1024-bytes-wide", "1,024 bytes, most of them spaces of three bytes", "\u3000" * 320 + FINGERPRINT, ""),
        ("1027-bytes-wide", "1,027 bytes in 385 characters", "\u3000" * 321 + FINGERPRINT, "invalid-pin")]:
    one(9, name, "a pin of a certificate: " + what, problem, pinned({"certificate": pin_text}))

# --- P10, P11: report addresses and notes ----------------------------------------------------------------------------------

for name, what, address, is_good in [
        ("good", "host and path", "https://r.example.net/pins", True),
        ("host-only", "only a host", "https://r.example.net", True),
        ("port", "a port", "https://r.example.net:8443/", True),
        ("port-only", "a host and a port", "https://r.example.net:8443", True),
        ("query", "a query behind the host", "https://r.example.net?x", True),
        ("fragment", "a fragment behind the host", "https://r.example.net#x", True),
        ("query-behind-port", "a query behind the port", "https://r.example.net:1?x", True),
        ("upper", "the scheme in upper case", "HTTPS://r.example.net/", True),
        ("mixed", "the scheme in mixed case", "hTTps://r.example.net/", True),
        ("ipv4", "an IPv4 address", "https://192.0.2.1/", True),
        ("ipv6", "an IPv6 address in brackets", "https://[2001:db8::1]:8443/", True),
        ("dot", "a dot at the end of the host", "https://r.example.net./", True),
        ("highest-port", "port 65535", "https://r.example.net:65535/", True),
        ("longest", "8,192 bytes", "https://r.example.net/" + "x" * 8170, True),
        ("all-characters", "all other characters in the path", "https://r.example.net/!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~", True),
        ("too-long", "8,193 bytes", "https://r.example.net/" + "x" * 8171, False),
        ("http", "http", "http://r.example.net/", False),
        ("no-scheme", "no scheme", "r.example.net/", False),
        ("empty", "no character", "", False),
        ("no-host", "no host", "https:///pins", False),
        ("one-slash", "one slash", "https:/r.example.net/", False),
        ("user", "a user name", "https://a@r.example.net/", False),
        ("password", "a user name and password", "https://a:b@r.example.net/", False),
        ("port-0", "port 0", "https://r.example.net:0/", False),
        ("port-65536", "port 65536", "https://r.example.net:65536/", False),
        ("port-empty", "an empty port", "https://r.example.net:/", False),
        ("port-sign", "a port with a sign", "https://r.example.net:+443/", False),
        ("port-word", "a word as port", "https://r.example.net:https/", False),
        ("port-digits", "a port of 20 digits", "https://r.example.net:18446744073709551617/", False),
        ("port-zeros", "a port with leading zeros", "https://r.example.net:00443/", True),
        ("two-ports", "two ports", "https://r.example.net:443:443/", False),
        ("ipv6-port-empty", "an empty port behind brackets", "https://[2001:db8::1]:/", False),
        ("ipv6-zone", "a zone", "https://[fe80::1%25eth0]/", False),
        ("one-label", "a host of one label", "https://collector/", True),
        ("backslash", "a backslash", "https://r.example.net\\x", False),
        ("backslash-in-path", "a backslash in the path", "https://r.example.net/a\\b", False),
        ("blank", "a blank in the path", "https://r.example.net/a b", False),
        ("blank-before", "a blank at the beginning", " https://r.example.net/", False),
        ("line-feed", "a line feed at the end", "https://r.example.net/\n", False),
        ("not-ascii", "a letter that is no ASCII", "https://r.example.net/\u00e9", False),
        ("delete", "the byte 7F", "https://r.example.net/\u007f", False),
        ("ipv6-bare", "an IPv6 address without brackets", "https://2001:db8::1/", False),
        ("ipv4-brackets", "an IPv4 address in brackets", "https://[192.0.2.1]/", False),
        ("name-brackets", "a name in brackets", "https://[r.example.net]/", False),
        ("no-host-syntax", "a wildcard as host", "https://*.example.net/", False),
        ("ipv4-short", "a short IPv4 address", "https://192.0.513/", False),
        ("percent", "a percent sign in the host", "https://r%2eexample.net/", False),
        ("behind-brackets", "text behind brackets", "https://[2001:db8::1]x/", False),
        ("semicolon", "a semicolon behind the host", "https://r.example.net;x/", False)]:
    one(10, name, "a report address: " + what, "" if is_good else "invalid-report-url", {**RULE, "reportTo": [address]})

for name, what, note, is_good in [
        ("empty", "no character", "", True),
        ("200", "200 scalars", "x" * 200, True),
        ("201", "201 scalars", "x" * 201, False),
        ("200-wide", "200 scalars of four bytes", "\U0001f512" * 200, True),
        ("201-combined", "101 letters with 100 combining marks", "e\u0301" * 100 + "e", False),
        ("200-combined", "100 letters with 100 combining marks", "e\u0301" * 100, True),
        ("line-feed", "a line feed", "a\nb", False),
        ("tab", "a tab", "a\tb", False),
        ("delete", "U+007F", "\u007f", False),
        ("next-line", "U+0085", "\u0085", False),
        ("escape", "U+001B", "\u001b[2J", False),
        ("line-separator", "U+2028", "\u2028", False),
        ("paragraph-separator", "U+2029", "\u2029", False),
        ("right-to-left-override", "U+202E", "\u202e", False),
        ("left-to-right-mark", "U+200E", "\u200e", False),
        ("right-to-left-mark", "U+200F", "\u200f", False),
        ("embedding", "U+202A", "\u202a", False),
        ("end-of-isolate", "U+2069", "\u2069", False),
        ("soft-hyphen", "U+00AD", "\u00ad", True),
        ("isolate", "U+2066", "\u2066", False),
        ("arabic-letter-mark", "U+061C", "\u061c", False),
        ("zero-width-space", "U+200B", "a\u200bb", True),
        ("joiner", "U+200D", "\u200d", True),
        ("no-break-space", "U+00A0", "\u00a0", True),
        ("right-to-left-letters", "Hebrew letters", "\u05d0\u05d1", True)]:
    one(11, name, "a note: " + what, "" if is_good else "invalid-note", {**RULE, "note": note})
one(11, "of-pin", "a note of a pin with a line feed", "invalid-note", pinned({"spki": HASH, "note": "a\nb"}))

# --- P6 in a policy, P12: members ------------------------------------------------------------------------------------------

one(6, "wildcard", "a wildcard as host", "invalid-host", rule("*.example"))
one(6, "ipv6-brackets", "an IPv6 address in brackets as host", "", rule("[2001:db8::1]"))
one(6, "port-in-host", "a port behind the host", "invalid-host", rule("a.example:443"))
for name, what, problems, content in [
        ("root-list", "a list", "wrong-type", "[]"),
        ("root-string", "a string", "wrong-type", '"x"'),
        ("root-null", "null", "wrong-type", "null"),
        ("root-number", "a number", "wrong-type", "1"),
        ("empty", "an empty object", "missing-key missing-key", "{}"),
        ("no-version", "no version", "missing-key", '{"hosts": []}'),
        ("no-hosts", "no hosts", "missing-key", '{"version": 1}'),
        ("unknown", "an unknown key", "unknown-key", top(later=1)),
        ("unknown-twice", "two unknown keys", "unknown-key unknown-key", top(later=1, x={})),
        ("version-0", "version 0", "unsupported-version", EMPTY.replace("1", "0")),
        ("version-2", "version 2", "unsupported-version", EMPTY.replace("1", "2")),
        ("version-minus-1", "version -1", "unsupported-version", EMPTY.replace("1", "-1")),
        ("version-string", "version is a string", "wrong-type", EMPTY.replace("1", '"1"')),
        ("version-null", "version is null", "wrong-type", EMPTY.replace("1", "null")),
        ("version-true", "version is true", "wrong-type", EMPTY.replace("1", "true")),
        ("schema", "$schema", "", top(**{"$schema": "x"})),
        ("schema-null", "$schema is null", "wrong-type", top(**{"$schema": None})),
        ("update-version-0", "updateVersion 0", "", top(updateVersion=0)),
        ("update-version-highest", "updateVersion 2^53 - 1", "", top(updateVersion=2**53 - 1)),
        ("update-version-minus-0", "updateVersion -0", "", top(updateVersion=0).replace(": 0", ": -0")),
        ("version-minus-0", "version -0", "unsupported-version", EMPTY.replace("1", "-0")),
        ("update-version-null", "updateVersion is null", "wrong-type", top(updateVersion=None)),
        ("schema-number", "$schema is a number", "wrong-type", top(**{"$schema": 1})),
        ("update-version-too-high", "updateVersion 2^53", "invalid-update-version", top(updateVersion=2**53)),
        ("update-version-negative", "updateVersion -1", "invalid-update-version", top(updateVersion=-1)),
        ("update-version-string", "updateVersion is a string", "wrong-type", top(updateVersion="1")),
        ("unpinned-system", "unpinnedHosts systemTrust", "", top(unpinnedHosts="systemTrust")),
        ("unpinned-reject", "unpinnedHosts reject", "", top(unpinnedHosts="reject")),
        ("unpinned-ask", "unpinnedHosts askUser", "", top(unpinnedHosts="askUser")),
        ("unpinned-case", "unpinnedHosts Reject", "unknown-value", top(unpinnedHosts="Reject")),
        ("unpinned-empty", "unpinnedHosts is empty", "unknown-value", top(unpinnedHosts="")),
        ("unpinned-null", "unpinnedHosts is null", "wrong-type", top(unpinnedHosts=None)),
        ("updates", "anyHost is true", "", top(updates={"anyHost": True})),
        ("updates-empty", "updates is empty", "", top(updates={})),
        ("updates-unknown", "an unknown key in updates", "unknown-key", top(updates={"anyhost": True})),
        ("updates-string", "anyHost is a string", "wrong-type", top(updates={"anyHost": "true"})),
        ("updates-true", "updates is true", "wrong-type", top(updates=True)),
        ("hosts-object", "hosts is an object", "wrong-type", '{"version": 1, "hosts": {}}'),
        ("hosts-strings", "hosts has a string", "wrong-type", '{"version": 1, "hosts": ["a.example"]}'),
        ("hosts-null", "hosts is null", "wrong-type", '{"version": 1, "hosts": null}')]:
    vector(12, name, what, problems, content)
for name, what, problems, changes in [
        ("unknown", "an unknown key", "unknown-key", {"later": 1}),
        ("case", "a key in another case", "unknown-key", {"Port": 1}),
        ("port-1", "port 1", "", {"port": 1}),
        ("port-65535", "port 65535", "", {"port": 65535}),
        ("port-0", "port 0", "invalid-port", {"port": 0}),
        ("port-65536", "port 65536", "invalid-port", {"port": 65536}),
        ("port-negative", "port -1", "invalid-port", {"port": -1}),
        ("port-string", "port is a string", "wrong-type", {"port": "443"}),
        ("port-null", "port is null", "wrong-type", {"port": None}),
        ("subdomains", "includeSubdomains", "", {"includeSubdomains": True}),
        ("subdomains-number", "includeSubdomains is 1", "wrong-type", {"includeSubdomains": 1}),
        ("subdomains-null", "includeSubdomains is null", "wrong-type", {"includeSubdomains": None}),
        ("pins-string", "pins is a string", "wrong-type", {"pins": PIN}),
        ("pins-none-accepted", "pins is none-accepted", "wrong-type", {"pins": "none-accepted"}),
        ("pins-numbers", "two pins are numbers", "wrong-type wrong-type", {"pins": [1, 2]}),
        ("pins-null", "pins is null", "wrong-type", {"pins": None}),
        ("pin-number", "a pin is a number", "wrong-type", {"pins": [1]}),
        ("pin-list", "a pin is a list", "wrong-type", {"pins": [[PIN]]}),
        ("backup-none", "none-accepted", "", {"backupPins": "none-accepted"}),
        ("backup-word", "backupPins is another word", "unknown-value", {"backupPins": "none"}),
        ("backup-object", "backupPins is an object", "wrong-type", {"backupPins": {}}),
        ("backup-false", "backupPins is false", "wrong-type", {"backupPins": False}),
        ("requires-any", "requires anyPin", "", {"requires": "anyPin"}),
        ("requires-word", "requires is another word", "unknown-value", {"requires": "allPins"}),
        ("requires-true", "requires is true", "wrong-type", {"requires": True}),
        ("expiry", "expiry", "", {"expiry": {"after": "2027-11-20T00:00:00Z", "then": "systemTrust"}}),
        ("expiry-date", "expiry is a date", "wrong-type", {"expiry": "2027-11-20T00:00:00Z"}),
        ("expiry-no-after", "expiry without after", "missing-key", {"expiry": {"then": "reject"}}),
        ("expiry-no-then", "expiry without then", "missing-key", {"expiry": {"after": "2027-11-20T00:00:00Z"}}),
        ("expiry-word", "another word in then", "unknown-value", {"expiry": {"after": "2027-11-20T00:00:00Z",
            "then": "enforce"}}),
        ("expiry-empty", "expiry is empty", "missing-key missing-key", {"expiry": {}}),
        ("expiry-number", "after is a number", "wrong-type", {"expiry": {"after": 1826668800, "then": "reject"}}),
        ("expiry-unknown", "an unknown key in expiry", "unknown-key", {"expiry": {"after": "2027-11-20T00:00:00Z",
            "then": "reject", "x": 1}}),
        ("enforce", "enforce", "", {"enforcement": "enforce"}),
        ("report-only", "reportOnly", "", {"enforcement": "reportOnly"}),
        ("enforcement-word", "enforcement is another word", "unknown-value", {"enforcement": "report-only"}),
        ("enforcement-null", "enforcement is null", "wrong-type", {"enforcement": None}),
        ("anchors-list", "anchors is a list", "wrong-type", {"anchors": [CA]}),
        ("anchors-unknown", "an unknown key in anchors", "unknown-key", {"anchors": {"include": [CA], "x": 1}}),
        ("anchors-system-number", "system is 1", "wrong-type", {"anchors": {"system": 1}}),
        ("anchors-include-number", "an element of include is a number", "wrong-type", {"anchors": {"include": [1]}}),
        ("anchors-include-string", "include is a string", "wrong-type", {"anchors": {"include": CA}}),
        ("length-1", "minimumPathLength 1", "", {"minimumPathLength": 1}),
        ("length-10", "minimumPathLength 10", "", {"minimumPathLength": 10}),
        ("length-0", "minimumPathLength 0", "invalid-path-length", {"minimumPathLength": 0}),
        ("length-11", "minimumPathLength 11", "invalid-path-length", {"minimumPathLength": 11}),
        ("length-string", "minimumPathLength is a string", "wrong-type", {"minimumPathLength": "2"}),
        ("issuer-object", "issuerKey is an object", "wrong-type", {"issuerKey": {"spki": PIN}}),
        ("issuer-null", "issuerKey is null", "wrong-type", {"issuerKey": None}),
        ("reports-string", "reportTo is a string", "wrong-type", {"reportTo": "https://r.example.net/"}),
        ("reports-number", "an element of reportTo is a number", "wrong-type", {"reportTo": [1]}),
        ("reports-empty", "reportTo is empty", "", {"reportTo": []}),
        ("withdraws", "withdraws", "", {"withdraws": "the provider ends"}),
        ("withdraws-empty", "withdraws is empty", "empty-reason", {"withdraws": ""}),
        ("withdraws-spaces", "withdraws has only white space", "empty-reason", {"withdraws": " \t\n\u00a0\u2003"}),
        ("withdraws-white-space", "withdraws is each character of White_Space", "empty-reason", {"withdraws": WHITE_SPACE}),
        ("withdraws-zero-width", "withdraws is U+200B, which is no White_Space", "", {"withdraws": "\u200b"}),
        ("withdraws-mark-only", "withdraws is U+200E, which is no White_Space", "", {"withdraws": "\u200e"}),
        ("withdraws-true", "withdraws is true", "wrong-type", {"withdraws": True}),
        ("note-number", "note is a number", "wrong-type", {"note": 1}),
        ("host-number", "host is a number", "wrong-type", {"host": 1}),
        ("host-null", "host is null", "wrong-type", {"host": None})]:
    one(12, "rule-" + name, "a rule: " + what, problems, {**RULE, **changes})
one(12, "rule-kelvin", "a rule: a key with the Kelvin sign in place of K", "unknown-key", {**RULE, "issuer\u212aey": PIN})
one(12, "rule-withdraws-mark", "a rule: withdraws is a blank with a combining mark", "", {**RULE, "withdraws": " \u0301"})
one(12, "rule-no-host", "a rule: no host", "missing-key", {"pins": [PIN], "backupPins": [pin(2)]})

# --- P13 to P15 ------------------------------------------------------------------------------------------------------------

for name, what, problems, value in [
        ("string", "a string", "", PIN),
        ("spki", "an object with spki", "", {"spki": PIN}),
        ("certificate", "an object with certificate", "", {"certificate": FINGERPRINT}),
        ("both", "both subjects", "ambiguous-pin", {"spki": PIN, "certificate": FINGERPRINT}),
        ("both-unread", "both subjects, whose texts are not read", "ambiguous-pin", {"spki": "x!", "certificate": 1}),
        ("both-and-note", "both subjects, and a note that cannot be read", "ambiguous-pin invalid-note", {"spki": PIN,
            "certificate": FINGERPRINT, "note": "a\nb"}),
        ("both-and-position", "both subjects, and another word as position", "ambiguous-pin unknown-value", {"spki": PIN,
            "certificate": FINGERPRINT, "at": "root"}),
        ("neither", "no subject", "missing-key", {"at": "leaf"}),
        ("empty", "an empty object", "missing-key", {}),
        ("any", "the position any", "", {"spki": PIN, "at": "any"}),
        ("leaf", "the position leaf", "", {"spki": PIN, "at": "leaf"}),
        ("ca", "the position ca", "", {"spki": PIN, "at": "ca"}),
        ("position-word", "another word as position", "unknown-value", {"spki": PIN, "at": "root"}),
        ("position-null", "null as position", "wrong-type", {"spki": PIN, "at": None}),
        ("unknown", "an unknown key", "unknown-key", {"spki": PIN, "key": 1}),
        ("note", "a note", "", {"spki": PIN, "note": "x"}),
        ("spki-number", "a number as spki", "wrong-type", {"spki": 1}),
        ("certificate-list", "a list as certificate", "wrong-type", {"certificate": []}),
        ("fingerprint-as-spki", "a fingerprint as spki", "invalid-pin", {"spki": FINGERPRINT}),
        ("null", "null", "wrong-type", None)]:
    one(13, name, "a pin: " + what, problems, pinned(value))


def anchored(*include, **more):
    return {**RULE, "anchors": {"include": list(include), **more}}


KEY = CA.replace("CERTIFICATE", "PRIVATE KEY")
BROKEN = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
one(14, "certificate", "one certificate", "", anchored(CA))
one(14, "two-certificates", "two certificates in two texts", "", anchored(CA, CB))
one(14, "two-in-one-text", "two certificates in one text", "", anchored(CA + CB))
one(14, "x509-label", "the label X509 CERTIFICATE", "", anchored(CA.replace("CERTIFICATE", "X509 CERTIFICATE")))
one(14, "text-behind", "text behind a certificate", "", anchored(CA + "the root of the test\n"))
one(14, "text-between", "text between two certificates", "", anchored(CA + "subject: the next one\n" + CB))
one(14, "private-key", "a block that is no certificate", "invalid-anchor", anchored(KEY))
one(14, "private-key-behind", "a block that is no certificate behind one", "invalid-anchor", anchored(CA + KEY))
one(14, "unreadable", "a block that cannot be read", "invalid-anchor", anchored(BROKEN))
one(14, "unreadable-behind", "a block that cannot be read behind a certificate", "invalid-anchor", anchored(CA + BROKEN))
one(14, "no-end", "a block without an end", "invalid-anchor", anchored(CA.split("-----END")[0]))
one(14, "other-label", "a block with its label in lower case", "invalid-anchor", anchored(CA.replace("CERTIFICATE", "certificate")))
one(14, "trusted-label", "the label TRUSTED CERTIFICATE", "invalid-anchor", anchored(CA.replace("CERTIFICATE",
    "TRUSTED CERTIFICATE")))
BEGIN, *BODY, END, _ = CA.split("\n")
PADDED = authority("Vector CA of P14")
assert "=" in PADDED
for name, what, problems, *lines in [
        ("one-line", "the base64 in one line", "", BEGIN, "".join(BODY), END),
        ("short-lines", "one character of base64 a line", "", BEGIN, *"".join(BODY), END),
        ("blanks-behind-lines", "blanks and tabs behind each line", "", *[line + " \t" for line in (BEGIN, *BODY, END)]),
        ("blank-before-base64", "a blank before base64", "invalid-anchor", BEGIN, " " + BODY[0], *BODY[1:], END),
        ("blank-in-base64", "a blank in base64", "invalid-anchor", BEGIN, BODY[0][:9] + " " + BODY[0][9:], *BODY[1:], END),
        ("form-feed-behind-base64", "a form feed behind base64", "invalid-anchor", BEGIN, BODY[0] + "\f", *BODY[1:], END),
        ("empty-lines-first", "an empty line and one of blanks directly behind BEGIN", "", BEGIN, "", " \t", *BODY, END),
        ("empty-line-inside", "an empty line between lines of base64", "invalid-anchor", BEGIN, BODY[0], "", *BODY[1:], END),
        ("empty-line-before-end", "an empty line before END", "invalid-anchor", BEGIN, *BODY, "", END),
        ("header", "a header and an empty line", "invalid-anchor", BEGIN, "Comment: root", "", *BODY, END),
        ("begin-as-end", "a second BEGIN, and no END", "invalid-anchor invalid-anchor", BEGIN, *BODY, BEGIN),
        ("empty-block", "a block without base64", "invalid-anchor", BEGIN, END),
        ("no-content", "a block with an empty line only", "invalid-anchor", BEGIN, "", END),
        ("other-end", "END with the other label of certificates", "invalid-anchor", BEGIN, *BODY, END.replace("CERT", "X509 CERT")),
        ("text-behind-end", "text behind END in its line", "invalid-anchor", BEGIN, *BODY, END + " x"),
        ("end-indented", "a blank before END", "invalid-anchor", BEGIN, *BODY, " " + END),
        ("end-short", "END with four dashes at its end", "invalid-anchor", BEGIN, *BODY, END[:-1]),
        ("two-blanks", "two blanks before the label", "invalid-anchor", BEGIN.replace(" ", "  "), *BODY, END.replace(" ", "  ")),
        ("begin-again", "a second BEGIN in place of END", "invalid-anchor", BEGIN, *BODY, BEGIN, *BODY, END),
        ("end-again", "END twice", "invalid-anchor", BEGIN, *BODY, END, END),
        ("indented-behind", "a blank before BEGIN of a second block", "invalid-anchor", BEGIN, *BODY, END, " " + BEGIN, *BODY, END)]:
    one(14, name, "PEM text: " + what, problems, anchored("\n".join(lines) + "\n"))
one(14, "cr", "PEM text: lines that end in CR", "", anchored(CA.replace("\n", "\r")))
one(14, "padding", "PEM text: base64 with padding", "", anchored(PADDED))
one(14, "padding-absent", "PEM text: base64 without its padding", "invalid-anchor", anchored(PADDED.replace("=", "")))
one(14, "url-safe", "PEM text: the alphabet of RFC 4648 section 5", "invalid-anchor", anchored(CA.replace("+", "-").replace("/", "_")))
for size, problems in ((262144, ""), (262145, "invalid-anchor")):
    large = authority("Vector CA of P14", size - 278)
    assert len(base64.b64decode("".join(large.split("\n")[1:-2]))) == size
    run = re.search("A{100000,}", text := policy(anchored("\n".join([BEGIN, "".join(large.split("\n")[1:-2]), END]))))
    vector(14, "%d-bytes" % size, "PEM text: a certificate of %d bytes" % size, problems, text[:run.start()],
        {"repeat": "A", "times": len(run[0])}, text[run.end():])
one(14, "two-bad-blocks", "two blocks that are no certificates", "invalid-anchor invalid-anchor", anchored(KEY + KEY))
one(14, "two-bad-texts", "two texts with a block that is no certificate", "invalid-anchor invalid-anchor", anchored(KEY, KEY))
one(14, "line-ends", "lines that end in CR LF", "", anchored(CA.replace("\n", "\r\n")))
one(14, "no-last-line-end", "no line end behind the last line", "", anchored(CA.rstrip("\n")))
one(14, "same-twice", "one certificate twice", "", anchored(CA, CA))
one(14, "begin-only", "a text that begins like a block, and has none", "no-anchor", anchored("-----BEGIN"))
one(14, "begin-and-mark", "a combining mark on the first words of a block", "no-anchor", anchored("-----BEGIN\u0301 CERTIFICATE-----"))
one(14, "blank-first", "a blank before a certificate: a path", "anchor-file-not-allowed", anchored(" " + CA))
one(14, "empty-path", "an empty text: a path", "anchor-file-not-allowed", anchored(""))
one(14, "system-only", "the system's anchors", "", {**RULE, "anchors": {"system": True}})
one(14, "file-not-allowed", "a file where no files can be read", "anchor-file-not-allowed", anchored("root.pem"))
one(14, "file", "a file", "", anchored("root.pem"), files={"root.pem": CA})
one(14, "file-missing", "a file that cannot be read", "unreadable-anchor-file", anchored("other.pem"), files={"root.pem": CA})
one(14, "file-text-first", "a file with text before its certificate", "", anchored("root.pem"),
    files={"root.pem": "subject: root\n" + CA})
one(14, "file-no-certificate", "a file with text and no certificate", "no-anchor", anchored("root.pem"),
    files={"root.pem": "nothing\n"})
one(14, "file-private-key", "a file with a block that is no certificate", "invalid-anchor", anchored("root.pem"),
    files={"root.pem": KEY})
DER = {"hex": base64.b64decode("".join(BODY)).hex()}
for name, what, problems, *parts in [
        ("der", "a certificate in DER", "", DER),
        ("der-and-byte", "a certificate in DER and a byte", "invalid-anchor", DER, {"hex": "00"}),
        ("der-twice", "two certificates in DER", "invalid-anchor", DER, DER),
        ("begins-with-0", "text that begins with the byte 30, and no block", "invalid-anchor", "0 certificates\n"),
        ("begins-with-0-and-block", "text that begins with the byte 30, and a block", "", "0 certificates before\n" + CA),
        ("byte-order-mark", "a byte order mark before a block", "", {"hex": "efbbbf"}, CA),
        ("empty", "no byte", "no-anchor")]:
    one(14, "file-" + name, "a file: " + what, problems, anchored("root.pem"), files={"root.pem": parts})
one(14, "file-and-text", "a file and a text", "", anchored("root.pem", CB), files={"root.pem": CA})
ANCHORS = {"anchors": {"include": [CA]}}
SUBS = {"includeSubdomains": True}
one(15, "public-suffix", "anchors for the names below a public suffix", "anchors-too-broad", rule("co.uk", **SUBS, **ANCHORS),
    suffixes=("co.uk",))
one(15, "public-suffix-upper", "anchors for the names below a public suffix in upper case", "anchors-too-broad", rule("CO.UK.",
    **SUBS, **ANCHORS), suffixes=("co.uk",))
one(15, "exact", "anchors for a public suffix itself", "", rule("co.uk", **ANCHORS), suffixes=("co.uk",))
one(15, "below", "anchors for the names below a domain", "", rule("example.co.uk", **SUBS, **ANCHORS), suffixes=("co.uk",))
one(15, "no-anchors", "the names below a public suffix without anchors", "", rule("co.uk", **SUBS), suffixes=("co.uk",))
one(15, "system", "the names below a public suffix with the system's anchors", "", rule("co.uk", **SUBS,
    anchors={"system": True}), suffixes=("co.uk",))
one(15, "beside-system", "anchors beside the system's for the names below a public suffix", "anchors-too-broad", rule("co.uk",
    **SUBS, anchors={"include": [CA], "system": True}), suffixes=("co.uk",))
one(15, "and-reading", "anchors for a public suffix, and a problem of reading in the rule", "anchors-too-broad unknown-key",
    rule("co.uk", **SUBS, **ANCHORS, later=1), suffixes=("co.uk",))
vector(15, "and-reading-outside", "anchors for a public suffix, and a problem of reading outside of the rules",
    "anchors-too-broad unknown-key", policy(rule("co.uk", **SUBS, **ANCHORS), later=1), suffixes=("co.uk",))
one(15, "and-meaning", "anchors for a public suffix, and a pin twice", "anchors-too-broad duplicate-pin", {**rule("co.uk", **SUBS,
    **ANCHORS), "pins": [PIN, PIN]}, suffixes=("co.uk",))
one(15, "unread-anchors", "anchors for a public suffix, one of which cannot be read", "invalid-anchor", rule("co.uk", **SUBS,
    anchors={"include": [CA, BROKEN]}), suffixes=("co.uk",))
one(15, "unread-subdomains", "anchors for a public suffix, and includeSubdomains that cannot be read", "wrong-type", rule("co.uk",
    includeSubdomains=1, **ANCHORS), suffixes=("co.uk",))
one(15, "one-label", "anchors for the names below a public suffix of one label: reported once", "anchors-too-broad", rule("uk", **SUBS,
    **ANCHORS), suffixes=("uk",))
one(15, "unread-host", "anchors for the names below a host that cannot be read", "invalid-host", rule("*.co.uk", **SUBS, **ANCHORS),
    suffixes=("co.uk", "*.co.uk"))
one(15, "no-list", "anchors for the names below a public suffix that the list does not have", "", rule("co.uk", **SUBS,
    **ANCHORS))

# --- P16, P17, P20, P21 ----------------------------------------------------------------------------------------------------

NO_BACKUP = bare("b.example", pins=[PIN])
vector(16, "outside", "a problem of reading outside of the rules: the meaning is not checked", "unknown-key", policy(NO_BACKUP,
    later=1))
vector(16, "no-object", "an element of hosts that is no object, and a rule without backup pins", "no-backup-pin wrong-type",
    policy(1, NO_BACKUP))
vector(16, "ambiguous-pin", "a pin with both subjects, and no backup pin", "ambiguous-pin", policy({**NO_BACKUP,
    "pins": [{"spki": PIN, "certificate": FINGERPRINT}]}))
vector(16, "pin-type", "a pin that is a number, and no backup pin", "wrong-type", policy({**NO_BACKUP, "pins": [1]}))
vector(16, "note-of-pin", "a note of a pin that cannot be read, and no backup pin", "invalid-note no-backup-pin",
    policy({**NO_BACKUP, "pins": [{"spki": PIN, "note": "a\nb"}]}))
vector(16, "anchor-file-and-label", "an anchor file beside a certificate, and sub-domains of one label", "anchor-file-not-allowed",
    policy(rule("internal", **SUBS, anchors={"include": [CA, "root.pem"]})))
vector(16, "rule-with-problem-covers-nothing", "a report host that a rule with a problem of reading names", "unknown-key",
    policy({**RULE, "reportTo": ["https://b.example/"]}, rule("b.example", n=3, later=1)))
vector(16, "rule-with-unread-pin-covers", "a report host that a rule with an unread pin covers", "invalid-pin report-host-covered",
    policy({**RULE, "reportTo": ["https://b.example/"]}, bare("b.example", pins=["x!"], backupPins=[PIN])))
vector(16, "reports-of-rule-with-problem", "report addresses of a rule with a problem of reading", "unknown-key",
    policy({**RULE, "reportTo": ["x", "https://a.example/"], "later": 1}))
vector(16, "in-rule", "a problem of reading in a rule: its meaning is not checked", "unknown-key", policy({**NO_BACKUP,
    "later": 1}))
vector(16, "in-other-rule", "a problem of reading in one rule and one of meaning in another", "no-backup-pin unknown-key",
    policy({**RULE, "later": 1}, NO_BACKUP))
vector(16, "pin-text", "a pin that cannot be read, and no backup pin", "invalid-pin no-backup-pin", policy({**NO_BACKUP,
    "pins": ["x!"]}))
for name, pin_text, problem in [
        ("wrong-pin-length", "sha256/AA==", "wrong-pin-length"),
        ("non-canonical-pin", "sha256/" + next_character(HASH), "non-canonical-pin"),
        ("empty-input-pin", "sha256/" + H, "empty-input-pin"),
        ("unsupported-hash", "sha1/" + HASH, "unsupported-hash")]:
    vector(16, name, "a pin that cannot be read (%s), and no backup pin" % problem, problem + " no-backup-pin", policy({**NO_BACKUP,
        "pins": [pin_text]}))
vector(16, "note", "a note that cannot be read, and no backup pin", "invalid-note no-backup-pin", policy({**NO_BACKUP,
    "note": "a\nb"}))
vector(16, "anchor-file", "an anchor file, and no backup pin", "anchor-file-not-allowed no-backup-pin", policy({**NO_BACKUP,
    "anchors": {"include": ["root.pem"]}}))
vector(16, "public-suffix", "anchors for a public suffix, and no backup pin", "anchors-too-broad no-backup-pin",
    policy({**NO_BACKUP, "host": "co.uk", **SUBS, **ANCHORS}), suffixes=("co.uk",))
vector(16, "issuer-key", "an issuerKey that cannot be read, and no backup pin", "invalid-pin no-backup-pin",
    policy({**NO_BACKUP, "issuerKey": "x!"}))
vector(16, "anchor", "an anchor that cannot be read, and no backup pin", "invalid-anchor",
    policy({**NO_BACKUP, "anchors": {"include": [BROKEN]}}))
vector(16, "file", "a file that cannot be read, and no backup pin", "unreadable-anchor-file",
    policy({**NO_BACKUP, "anchors": {"include": ["root.pem"]}}), files={})
vector(16, "pin-and-key", "a pin that cannot be read, an unknown key, and no backup pin", "invalid-pin unknown-key",
    policy({**NO_BACKUP, "pins": ["x!"], "later": 1}))
vector(16, "date", "a date that cannot be read, and no backup pin", "invalid-date", policy({**NO_BACKUP, "expiry": {"after": "x",
    "then": "reject"}}))
vector(16, "unread-pins-differ", "the same pin twice that cannot be read", "invalid-pin invalid-pin", policy({**RULE,
    "pins": ["x!", "x!"]}))
vector(16, "unread-pin-has-position", "leafAndCA with a pin at ca that cannot be read", "invalid-pin",
       policy({"host": "a.example", "requires": "leafAndCA", "pins": [{"spki": PIN, "at": "leaf"}, {"spki": "x!", "at": "ca"}],
           "backupPins": "none-accepted"}))
vector(16, "unread-pin-without-position", "leafAndCA with a backup pin without position that cannot be read",
    "invalid-pin pin-without-position",
    policy({"host": "a.example", "requires": "leafAndCA", "pins": [{"spki": PIN, "at": "leaf"}, {"spki": pin(2), "at": "ca"}],
            "backupPins": ["x!"]}))
vector(16, "unread-pin-counts", "the only pin and the only backup pin cannot be read", "invalid-pin invalid-pin",
    policy({**RULE, "pins": ["x!"], "backupPins": ["y!"]}))
vector(16, "rule-with-problem-and-duplicate", "a rule with a problem of reading and the same host twice", "unknown-key",
    policy({**RULE, "later": 1}, RULE))

LEAF, ISSUER = {"spki": PIN, "at": "leaf"}, {"spki": pin(2), "at": "ca"}
for name, what, problems, rules in [
        ("alias", "0.0.0.0 as host", "invalid-host", [rule("0.0.0.0")]),
        ("alias-ipv6", ":: as host", "invalid-host", [rule("::")]),
        ("alias-mapped", "an IPv4 address in IPv6 as host", "invalid-host", [rule("::ffff:192.0.2.1")]),
        ("alias-with-subdomains", "an alias with sub-domains", "address-with-subdomains invalid-host", [rule("0.0.0.0", **SUBS)]),
        ("multicast-with-subdomains", "a multicast address with sub-domains", "address-with-subdomains invalid-host",
            [rule("ff02::1", **SUBS)]),
        ("loopback", "127.0.0.1 as host", "", [rule("127.0.0.1")]),
        ("multicast", "the lowest multicast address", "invalid-host", [rule("224.0.0.0")]),
        ("multicast-last", "the highest multicast address", "invalid-host", [rule("239.255.255.255")]),
        ("before-multicast", "the address before multicast", "", [rule("223.255.255.255")]),
        ("behind-multicast", "the address behind multicast", "", [rule("240.0.0.0")]),
        ("broadcast", "255.255.255.255", "invalid-host", [rule("255.255.255.255")]),
        ("before-broadcast", "255.255.255.254", "", [rule("255.255.255.254")]),
        ("multicast-ipv6", "a multicast address of IPv6", "invalid-host", [rule("ff02::1")]),
        ("multicast-ipv6-first", "the lowest multicast address of IPv6", "invalid-host", [rule("ff00::")]),
        ("multicast-ipv6-last", "the highest multicast address of IPv6", "invalid-host",
            [rule("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")]),
        ("before-multicast-ipv6", "the address before multicast of IPv6", "", [rule("feff::1")]),
        ("address-with-subdomains", "sub-domains of an address", "address-with-subdomains", [rule("192.0.2.1", **SUBS)]),
        ("address-with-subdomains-ipv6", "sub-domains of an IPv6 address", "address-with-subdomains", [rule("2001:db8::1",
            **SUBS)]),
        ("address", "an address", "", [rule("192.0.2.1")]),
        ("backup-without-pin", "backup pins only", "backup-without-pin", [bare("a.example", backupPins=[PIN])]),
        ("backup-without-pin-alone", "backup pins only, one of them twice: no other problem of pins is reported",
            "backup-without-pin", [bare("a.example", pins=[], backupPins=[PIN, PIN])]),
        ("no-pins", "no pins", "", [bare("a.example")]),
        ("backup-without-pin-both", "backup pins only, with leafAndCA", "backup-without-pin",
            [bare("a.example", requires="leafAndCA", backupPins=[{"spki": PIN, "at": "leaf"}])]),
        ("two-problems-of-pins", "leafAndCA with one pin without position", "pin-without-position",
            [bare("a.example", requires="leafAndCA", pins=[PIN], backupPins="none-accepted")]),
        ("empty-pins", "an empty list of pins", "", [bare("a.example", pins=[])]),
        ("no-backup-pin", "no backup pins", "no-backup-pin", [NO_BACKUP]),
        ("empty-backup-pins", "an empty list of backup pins", "no-backup-pin", [{**NO_BACKUP, "backupPins": []}]),
        ("none-accepted", "none-accepted", "", [{**NO_BACKUP, "backupPins": "none-accepted"}]),
        ("no-backup-report-only", "no backup pins in a reportOnly rule", "", [{**NO_BACKUP, "enforcement": "reportOnly"}]),
        ("duplicate-pin", "a pin twice", "duplicate-pin", [{**RULE, "pins": [PIN, PIN]}]),
        ("duplicate-pin-both-lists", "a pin in both lists", "duplicate-pin", [{**RULE, "backupPins": [PIN]}]),
        ("duplicate-pin-other-text", "a pin twice in different texts", "duplicate-pin", [{**RULE, "pins": [PIN, HASH[:-1]]}]),
        ("duplicate-pin-object", "a pin twice, once with its position written", "duplicate-pin", [{**RULE, "pins": [PIN,
            {"spki": PIN, "at": "any"}]}]),
        ("duplicate-certificate", "a certificate twice in different texts", "duplicate-pin", [{**RULE,
            "pins": [{"certificate": FINGERPRINT}, {"certificate": COLONS.upper()}]}]),
        ("same-pin-other-position", "a pin at leaf and at ca", "", [{**RULE, "pins": [{"spki": PIN, "at": "leaf"}, {"spki": PIN,
            "at": "ca"}]}]),
        ("same-bytes-other-subject", "one hash as key and as certificate", "", [{**RULE,
            "pins": [{"spki": base64.b64encode(bytes.fromhex(FINGERPRINT)).decode()}, {"certificate": FINGERPRINT}]}]),
        ("duplicate-pin-three-times", "a pin three times", "duplicate-pin duplicate-pin", [{**RULE, "pins": [PIN, PIN, PIN]}]),
        ("leaf-and-ca", "leafAndCA", "", [{"host": "a.example", "requires": "leafAndCA", "pins": [LEAF, ISSUER],
            "backupPins": [{"spki": pin(3), "at": "leaf"}]}]),
        ("pin-without-position", "leafAndCA with a pin more without position", "pin-without-position", [{"host": "a.example",
            "requires": "leafAndCA", "pins": [LEAF, ISSUER, pin(3)], "backupPins": "none-accepted"}]),
        ("two-pins-without-position", "leafAndCA with two pins without position", "pin-without-position", [{"host": "a.example",
            "requires": "leafAndCA", "pins": [PIN, pin(2)], "backupPins": "none-accepted"}]),
        ("backup-pin-without-position", "leafAndCA with a backup pin without position", "pin-without-position",
            [{"host": "a.example", "requires": "leafAndCA", "pins": [LEAF, ISSUER], "backupPins": [pin(3)]}]),
        ("no-leaf", "leafAndCA without a pin at leaf", "leaf-and-ca-incomplete", [{"host": "a.example", "requires": "leafAndCA",
            "pins": [ISSUER], "backupPins": [LEAF]}]),
        ("no-ca", "leafAndCA without a pin at ca", "leaf-and-ca-incomplete", [{"host": "a.example", "requires": "leafAndCA",
            "pins": [LEAF], "backupPins": [ISSUER]}]),
        ("leaf-and-ca-no-pins", "leafAndCA without pins", "leaf-and-ca-incomplete", [bare("a.example", requires="leafAndCA")]),
        ("positions-with-any-pin", "anyPin with a pin at leaf only", "", [{**RULE, "pins": [LEAF]}]),
        ("no-anchors", "anchors without a certificate and without system", "no-anchors", [{**RULE, "anchors": {}}]),
        ("no-anchors-written", "an empty list, and system false", "no-anchors", [{**RULE, "anchors": {"include": [],
            "system": False}}]),
        ("one-label", "anchors for the names below a host of one label", "anchors-too-broad", [rule("internal", **SUBS,
            **ANCHORS)]),
        ("one-label-dot", "anchors for the names below a host of one label and a dot", "anchors-too-broad", [rule("internal.",
            **SUBS, **ANCHORS)]),
        ("one-label-system", "anchors beside the system's for the names below a host of one label", "anchors-too-broad",
            [rule("internal", **SUBS, anchors={"include": [CA], "system": True})]),
        ("one-label-system-only", "the system's anchors for the names below a host of one label", "", [rule("internal", **SUBS,
            anchors={"system": True})]),
        ("one-label-address", "anchors and sub-domains of an IPv6 address", "address-with-subdomains", [rule("2001:db8::1", **SUBS,
            **ANCHORS)]),
        ("one-label-no-anchor", "anchors without a certificate and without system, for the names below a host of one label",
            "no-anchors", [rule("internal", **SUBS, anchors={})]),
        ("one-label-exact", "anchors for a host of one label", "", [rule("internal", **ANCHORS)]),
        ("one-label-no-anchors", "the names below a host of one label", "", [rule("internal", **SUBS)]),
        ("two-labels", "anchors for the names below a host of two labels", "", [rule("a.internal", **SUBS, **ANCHORS)]),
        ("duplicate-rule", "a host twice", "duplicate-rule", [RULE, RULE]),
        ("duplicate-rule-case", "a host in upper case and with a dot", "duplicate-rule", [RULE, rule("A.Example.")]),
        ("duplicate-rule-subdomains", "a host with and without sub-domains", "duplicate-rule", [RULE, {**RULE, **SUBS}]),
        ("duplicate-rule-port", "a host and port twice", "duplicate-rule", [{**RULE, "port": 443}, {**RULE, "port": 443}]),
        ("port-and-none", "a host with port 443 and without one", "", [{**RULE, "port": 443}, RULE]),
        ("two-ports", "a host with two ports", "", [{**RULE, "port": 443}, {**RULE, "port": 444}]),
        ("duplicate-address", "an IPv6 address in two texts", "duplicate-rule", [rule("2001:db8::1"),
            rule("[2001:DB8:0:0::0001]")]),
        ("duplicate-rule-three-times", "a host three times", "duplicate-rule duplicate-rule", [RULE, RULE, RULE]),
        ("report-alias", "a report address with an alias as host", "invalid-report-url", [{**RULE,
            "reportTo": ["https://0.0.0.0/"]}]),
        ("report-alias-ipv6", "a report address with a mapped address as host", "invalid-report-url", [{**RULE,
            "reportTo": ["https://[::ffff:192.0.2.1]/"]}]),
        ("report-multicast", "a report address with a multicast address as host", "", [{**RULE, "reportTo": ["https://224.0.0.1/"]}]),
        ("report-two-covered", "two report addresses with a covered host", "report-host-covered report-host-covered", [{**RULE,
            "reportTo": ["https://a.example/", "https://a.example/"]}]),
        ("report-two-bad", "two report addresses that are none", "invalid-report-url invalid-report-url", [{**RULE,
            "reportTo": ["x", "http://r.example.net/"]}]),
        ("report-covered", "a report host that its own rule covers", "report-host-covered", [{**RULE,
            "reportTo": ["https://a.example/pins"]}]),
        ("report-covered-upper", "a covered report host in upper case", "report-host-covered", [{**RULE,
            "reportTo": ["https://A.EXAMPLE./pins"]}]),
        ("report-covered-by-other", "a report host that another rule covers", "report-host-covered", [{**RULE,
            "reportTo": ["https://b.example/"]}, rule("b.example", n=3)]),
        ("report-not-covered", "a report host that ends in the letters of a rule with sub-domains", "", [{**RULE, **SUBS,
            "reportTo": ["https://ra.example/"]}]),
        ("report-covered-below", "a report host below a rule with sub-domains", "report-host-covered", [{**RULE, **SUBS,
            "reportTo": ["https://r.a.example/"]}]),
        ("report-below-exact", "a report host below a rule without sub-domains", "", [{**RULE,
            "reportTo": ["https://r.a.example/"]}]),
        ("report-other-port", "a report host that a rule covers on another port", "", [{**RULE, "port": 8443,
            "reportTo": ["https://a.example/"]}]),
        ("report-same-port", "a report host that a rule covers on its port", "report-host-covered", [{**RULE, "port": 8443,
            "reportTo": ["https://a.example:8443/"]}]),
        ("report-default-port", "a report host that a rule covers on port 443", "report-host-covered", [{**RULE, "port": 443,
            "reportTo": ["https://a.example/"]}]),
        ("report-no-pins", "a report host that a rule without pins covers", "report-host-covered", [{**RULE,
            "reportTo": ["https://b.example/"]}, bare("b.example")])]:
    vector(17, name, what, problems, policy(*rules))
vector(18, "all-problems", "problems in several places", "duplicate-pin invalid-report-url no-backup-pin", policy({**RULE,
    "pins": [PIN, PIN]}, {**NO_BACKUP, "reportTo": ["x"]}))
vector(21, "no-pins", "a rule without pins, with expiry, enforcement and requires", "", policy(bare("a.example",
    expiry={"after": "2027-11-20T00:00:00Z", "then": "reject"}, enforcement="reportOnly", requires="anyPin")))
vector(21, "no-pins-none-accepted", "a rule without pins, with none-accepted", "", policy(bare("a.example",
    backupPins="none-accepted")))
