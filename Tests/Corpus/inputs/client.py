"""A client that validates, and that pins with a second argument: GET over HTTP/1.1."""
import base64, hashlib, http.client, ssl, subprocess, sys, urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
connection = http.client.HTTPSConnection(url.hostname, url.port, context=ssl.create_default_context(cafile=sys.argv[2]), timeout=3)
try:
    connection.connect()
    if len(sys.argv) > 3:
        leaf = connection.sock.getpeercert(True)
        key = subprocess.run(["openssl", "x509", "-inform", "DER", "-noout", "-pubkey"], input=leaf, capture_output=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key, capture_output=True).stdout
        if base64.b64encode(hashlib.sha256(der).digest()).decode() not in sys.argv[3:]:
            sys.exit("not pinned")
    connection.request("GET", url.path or "/", headers={"Accept-Encoding": "identity"})
    print(connection.getresponse().status)
except (OSError, http.client.HTTPException) as error:
    sys.exit(f"{type(error).__name__}")
