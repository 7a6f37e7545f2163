"""Certificates for corpus.py. Keys and signatures are computed from names, so each recording has the same bytes."""
import base64, datetime, hashlib

NOW = datetime.datetime(2027, 1, 15, 8, tzinfo=datetime.timezone.utc)  # as in Tests/Corpus/clock.c
DAY = datetime.timedelta(days=1)


def seed(name):
    return int.from_bytes(hashlib.sha512(name.encode()).digest(), "big")


# DER

def der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    length = bytes([size]) if size < 128 else (lambda b: bytes([128 + len(b)]) + b)(
        size.to_bytes((size.bit_length() + 7) // 8, "big"))
    return bytes([tag]) + length + body


def sequence(*parts):
    return der(0x30, *parts)


def integer(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid(dotted):
    first, second, *rest = map(int, dotted.split("."))
    body = bytes([40 * first + second])
    for number in rest:
        digits = [number & 127]
        while number := number >> 7:
            digits.insert(0, 128 | number & 127)
        body += bytes(digits)
    return der(6, body)


def bits(body):
    return der(3, b"\0", body)


def moment(time):
    form, tag = ("%y%m%d%H%M%SZ", 23) if time.year < 2050 else ("%Y%m%d%H%M%SZ", 24)
    return der(tag, time.strftime(form).encode())


def pem(label, body):
    text = base64.b64encode(body).decode()
    lines = [text[i:i + 64] for i in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


# Keys

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
BASE = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and a[1] != b[1]:
        return None
    slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(number):
    result, power = None, BASE
    while number:
        if number & 1:
            result = add(result, power)
        power, number = add(power, power), number >> 1
    return result


class CurveKey:
    """A key on P-256."""
    digest = "sha256"
    algorithm = sequence(oid("1.2.840.10045.4.3.2"))

    def __init__(self, name):
        self.secret = seed(name) % ORDER
        x, y = multiply(self.secret)
        point = b"\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big")
        kind = sequence(oid("1.2.840.10045.2.1"), oid("1.2.840.10045.3.1.7"))
        self.public = sequence(kind, bits(point))
        private = sequence(integer(1), der(4, self.secret.to_bytes(32, "big")), der(0xA1, bits(point)))
        self.private = sequence(integer(0), kind, der(4, private))

    def sign(self, body):
        digest = hashlib.sha256(body).digest()
        nonce = seed(f"{self.secret} {digest.hex()}") % ORDER
        r = multiply(nonce)[0] % ORDER
        return sequence(integer(r), integer(pow(nonce, -1, ORDER) * (int.from_bytes(digest, "big") + r * self.secret) % ORDER))


class RSAKey:
    """An RSA key, whose signatures may use SHA-1."""

    def __init__(self, name, size=2048, digest="sha256"):
        self.digest = digest
        number = {"sha256": 11, "sha1": 5}[digest]
        self.algorithm = sequence(oid(f"1.2.840.113549.1.1.{number}"), der(5))
        p, q = (self.prime(f"{name} {letter}", size // 2) for letter in "pq")
        self.modulus, self.size = p * q, size // 8
        self.secret = pow(65537, -1, (p - 1) * (q - 1))
        kind = sequence(oid("1.2.840.113549.1.1.1"), der(5))
        self.public = sequence(kind, bits(sequence(integer(self.modulus), integer(65537))))
        parts = [0, self.modulus, 65537, self.secret, p, q, self.secret % (p - 1), self.secret % (q - 1), pow(q, -1, p)]
        self.private = sequence(integer(0), kind, der(4, sequence(*map(integer, parts))))

    @staticmethod
    def prime(name, size):
        start = int.from_bytes(hashlib.shake_256(name.encode()).digest(size // 8), "big") | 3 << (size - 2) | 1
        small = [n for n in range(3, 2000, 2) if all(n % k for k in range(3, int(n**.5) + 1, 2))]
        while any(start % n == 0 for n in small) or pow(2, start - 1, start) != 1 or start % 65537 == 1:
            start += 2
        return start

    def sign(self, body):
        numbers = {"sha256": "2.16.840.1.101.3.4.2.1", "sha1": "1.3.14.3.2.26"}
        digest = hashlib.new(self.digest, body).digest()
        info = sequence(sequence(oid(numbers[self.digest]), der(5)), der(4, digest))
        padded = b"\0\1" + b"\xff" * (self.size - 3 - len(info)) + b"\0" + info
        return pow(int.from_bytes(padded, "big"), self.secret, self.modulus).to_bytes(self.size, "big")


class EdwardsKey:
    """An Ed25519 key, as signs updates. OpenSSL derives the public half."""

    def __init__(self, name):
        secret = hashlib.sha256(name.encode()).digest()
        self.private = sequence(integer(0), sequence(oid("1.3.101.112")), der(4, der(4, secret)))


def pin(key):
    return "sha256/" + base64.b64encode(hashlib.sha256(key.public).digest()).decode()


# Certificates

def name(common):
    organization = sequence(oid("2.5.4.10"), der(12, b"Corpus"))
    return sequence(der(0x31, organization), der(0x31, sequence(oid("2.5.4.3"), der(12, common.encode()))))


def extension(number, value, critical=False):
    return sequence(oid(number), der(1, b"\xff") if critical else b"", der(4, value))


def constraints(permitted):
    return extension("2.5.29.30", sequence(der(0xA0, sequence(der(0x82, permitted.encode())))), True)


def authority(path_length=None, *more):
    """Returns the extensions of an authority."""
    length = [] if path_length is None else [integer(path_length)]
    return [extension("2.5.29.19", sequence(der(1, b"\xff"), *length), True),
            extension("2.5.29.15", der(3, b"\1\x06"), True), *more]


def leaf(*names, purpose="1.3.6.1.5.5.7.3.1", more=()):
    """Returns the extensions of a server's certificate."""
    names = [der(0x87, bytes(map(int, n.split(".")))) if n[0].isdigit() else der(0x82, n.encode()) for n in names]
    return [extension("2.5.29.19", sequence(), True), extension("2.5.29.15", der(3, b"\7\x80"), True),
            extension("2.5.29.37", sequence(oid(purpose))), extension("2.5.29.17", sequence(*names)), *more]


class Certificate:
    """A certificate for `key`, signed by `issuer`, or by itself. Days are counted from NOW."""

    def __init__(self, common, key, issuer=None, extensions=(), days=(-100, 300), signer=None):
        self.common, self.key, self.issuer = common, key, issuer
        signer = signer or (issuer.key if issuer else key)
        identifiers = [extension("2.5.29.14", der(4, self.identifier(key)))]
        if issuer:
            identifiers.append(extension("2.5.29.35", sequence(der(0x80, self.identifier(issuer.key)))))
        first, last = (moment((NOW + DAY * count).replace(hour=0)) for count in days)
        body = sequence(
            der(0xA0, integer(2)), integer(seed(f"{common} {days} {key.public.hex()}") >> 400), signer.algorithm,
            name(issuer.common if issuer else common), sequence(first, last), name(common), key.public,
            der(0xA3, sequence(*extensions, *identifiers)))
        self.der = sequence(body, signer.algorithm, bits(signer.sign(body)))
        self.pem = pem("CERTIFICATE", self.der)

    @staticmethod
    def identifier(key):
        return hashlib.sha1(key.public).digest()


def request(common, key):
    """Returns a certificate request in PEM."""
    body = sequence(integer(0), name(common), key.public, der(0xA0))
    return pem("CERTIFICATE REQUEST", sequence(body, key.algorithm, bits(key.sign(body))))
