"""Ed25519 as RFC 8032 describes it, and the flawed keys and signatures that vectors need. Slow, and not for secrets."""
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def point(y, sign):
    """The point with this y; none if there is none."""
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT % P
    if (x * x - x2) % P:
        return None
    if x % 2 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point(4 * pow(5, P - 2, P) % P, 0)
NEUTRAL = (0, 1, 1, 0)
# A point of order 8: its y is the last one of U10. And one of order 2.
ORDER_8 = point(int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"), 0)
ORDER_2 = (0, P - 1, 1, 0)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(n, p):
    sum = NEUTRAL
    while n:
        if n & 1:
            sum = add(sum, p)
        p, n = add(p, p), n >> 1
    return sum


def encode(p):
    inverse = pow(p[2], P - 2, P)
    x, y = p[0] * inverse % P, p[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class Signer:
    """A key pair. `torsion` is added to the public key, so that the key has a mixed order."""

    def __init__(self, name, torsion=NEUTRAL):
        digest = hashlib.sha512(hashlib.sha256(("Pintle's vectors: " + name).encode()).digest()).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
        self.prefix = digest[32:]
        self.public = encode(add(times(self.scalar, BASE), torsion))
        self.id = hashlib.sha256(self.public).hexdigest()

    def challenge(self, r, message):
        return number(r, self.public, message)

    def sign(self, message, torsion=NEUTRAL, nonce=None, domain=b"", r=None):
        """`torsion` is added to R, `nonce` replaces the secret one, and `r` replaces the encoding of R."""
        nonce = number(domain, self.prefix, message) % L if nonce is None else nonce
        r = encode(add(times(nonce, BASE), torsion)) if r is None else r
        s = (nonce + number(domain, r, self.public, message) * self.scalar) % L
        return r + s.to_bytes(32, "little")


def with_s_plus(signature, n):
    """The same signature with n added to S."""
    return signature[:32] + (int.from_bytes(signature[32:], "little") + n).to_bytes(32, "little")
