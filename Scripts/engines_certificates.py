"""Certificates and a policy for engines_servers.py, minted with the command openssl."""
import base64
import subprocess


def mint(folder):
    """Writes root.pem, right.pem and wrong.pem with their keys, and a policy that pins the key of right.pem."""
    def openssl(*words, content=None):
        return subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, input=content).stdout

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-days", "30", "-subj", "/CN=Root", "-keyout", "root.key", "-out", "root.pem",
            "-addext", "keyUsage=critical,keyCertSign")
    (folder / "names").write_text(
        "subjectAltName=DNS:*.audit.test\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n"
        "keyUsage=critical,digitalSignature\n")
    for name in ("right", "wrong"):
        openssl("req", *new, "-subj", "/CN=server", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial",
                "-days", "20", "-extfile", "names", "-out", f"{name}.pem")
    key = openssl("pkey", "-in", "right.key", "-pubout", "-outform", "DER")
    pin = base64.b64encode(openssl("dgst", "-sha256", "-binary", content=key)).decode()
    (folder / "policy.json").write_text(
        '{"version": 1, "hosts": [{"host": "audit.test", "includeSubdomains": true, "pins": ["sha256/%s"], '
        '"backupPins": ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="]}]}' % pin)
