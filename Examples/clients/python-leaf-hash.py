"""Pins the leaf's key in place of validation, a recipe of many answers and posts. Do not copy it.

Usage: python-leaf-hash.py HOST PORT PIN...
"""
import base64
import hashlib
import socket
import ssl
import sys

from cryptography.x509 import load_der_x509_certificate
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

host, port, *pins = sys.argv[1:]
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE  # "the pin is the check"
with socket.create_connection((host, int(port)), timeout=3) as tcp:
    with context.wrap_socket(tcp, server_hostname=host) as tls:
        key = load_der_x509_certificate(tls.getpeercert(binary_form=True)).public_key()
        der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if base64.b64encode(hashlib.sha256(der).digest()).decode() not in pins:
            sys.exit("the key is not pinned")
        tls.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        print(tls.recv(1024).split(b"\r\n")[0].decode())
