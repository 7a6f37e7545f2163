#!/usr/bin/env bash
# Proves that the part of the tool that macOS has without OpenSSL prints what the whole tool prints about files, or says in one line
# what it lacks. Scripts/darwin.sh runs it with both tools, which it builds over stand-ins. usage: half.sh HALF WHOLE
set -euo pipefail
half=$(realpath "$1") whole=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD folder=$(mktemp -d) compared=0
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export NO_COLOR=1

run() { # name, tool, words: NAME.out, NAME.err and NAME.code
    local code=0
    "$2" "${@:3}" >"$1.out" 2>"$1.err" </dev/null || code=$?
    echo "$code" >"$1.code"
}
same() { # words
    run half "$half" "$@" && run whole "$whole" "$@"
    for part in code out err; do
        cmp -s half.$part whole.$part || { echo "half: pintle $*: $part differs" && diff half.$part whole.$part | head -20; exit 1; }
    done
    compared=$((compared + 1))
}
refused() { # what needs OpenSSL, words
    run half "$half" "${@:2}"
    [ "$(cat half.code)" = 2 ] && [ "$(wc -l <half.err)" -eq 1 ] && grep -qF "$1 needs a build of pintle with OpenSSL" half.err ||
        { echo "half: pintle ${*:2} ends with $(cat half.code): $(cat half.err)" && exit 1; }
}
quietly() { "$@" 2>/dev/null; }
splice() { python3 - "$@" <<'END'
# file, result, from, to: hexadecimal, or files; each must occur once
import pathlib, sys
file, result, old, new = sys.argv[1:]
old, new = (pathlib.Path(text).read_bytes() if pathlib.Path(text).exists() else bytes.fromhex(text) for text in (old, new))
content = pathlib.Path(file).read_bytes()
assert content.count(old) == 1, (file, content.count(old))
pathlib.Path(result).write_bytes(content.replace(old, new))
END
}

# Keys of each kind in each form, and their requests.
for kind in rsa p256 p384 p521 ed25519; do
    case $kind in
    rsa) quietly openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:2048 -out rsa.key ;;
    ed25519) openssl genpkey -algorithm ed25519 -out ed25519.key ;;
    *) openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:"P-${kind#p}" -out "$kind.key" ;;
    esac
    openssl pkcs8 -topk8 -nocrypt -in $kind.key -outform DER -out $kind.pkcs8.der
    openssl pkey -in $kind.key -pubout -out $kind.pub
    openssl pkey -in $kind.key -pubout -outform DER -out $kind.pub.der
    openssl req -new -key $kind.key -subj /CN=a.example.com -addext subjectAltName=DNS:a.example.com -out $kind.csr
    openssl req -in $kind.csr -outform DER -out $kind.csr.der
    same pin $kind.key $kind.pub $kind.pkcs8.der $kind.pub.der
    for file in $kind.key $kind.pkcs8.der $kind.pub.der; do same pin ./$file --json && same inspect $file; done
    same pin $kind.pub --as policy --host a.example.com
    [ $kind = rsa ] || { same pin $kind.csr $kind.csr.der && same pin $kind.csr --as policy --host a.example.com && same inspect $kind.csr; }
    [ $kind = ed25519 ] || openssl pkey -in $kind.key -traditional -out $kind.old.key
done
quietly openssl rsa -in rsa.key -RSAPublicKey_out -out rsa.pkcs1.pub
quietly openssl rsa -in rsa.key -RSAPublicKey_out -outform DER -out rsa.pkcs1.pub.der
quietly openssl rsa -in rsa.key -traditional -outform DER -out rsa.old.der
quietly openssl genpkey -algorithm rsa-pss -pkeyopt rsa_keygen_bits:2048 -out pss.key
for curve in p256 p384 p521; do
    quietly openssl ec -in $curve.key -outform DER -out $curve.old.der
    quietly openssl ec -in $curve.key -no_public -outform DER -out $curve.short.der
    quietly openssl ec -in $curve.key -conv_form compressed -outform DER -out $curve.compressed.der
    for file in $curve.{old.key,old.der,short.der,compressed.der}; do same pin $file; done
    openssl req -new -key $curve.key -sha256 -subj /CN=b.example.com -out sha.csr && same pin sha.csr
    openssl req -new -key $curve.key -sha512 -subj /CN=b.example.com -out sha.csr && same pin sha.csr
done
for file in rsa.{pkcs1.pub,pkcs1.pub.der,old.key,old.der} pss.key; do same pin $file; done

# Halves that do not belong together, and signatures of another key.
openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out other.key
for name in p256 other; do openssl pkey -in $name.key -pubout -outform DER | tail -c 64 >$name.point; done
splice p256.pkcs8.der foreign.der p256.point other.point && same pin foreign.der
splice p256.pub.der off.der "$(head -c 8 p256.point | xxd -p)" 0102030405060708 && same pin off.der
splice rsa.old.der exponent.der 0203010001 0203010003 && same pin exponent.der
splice p256.csr.der signed.der p256.point other.point && same pin signed.der && same pin signed.der --as policy --host a.example.com
seed=$(tail -c 32 ed25519.pkcs8.der | xxd -p -c 32) point=$(tail -c 32 ed25519.pub.der | xxd -p -c 32)
xxd -r -p <<<"3051020101300506032b657004220420${seed}812100${point}" >both.der && same pin both.der
xxd -r -p <<<"3051020101300506032b657004220420${seed}812100${seed}" >unlike.der && same pin unlike.der
for file in rsa.old.der rsa.pkcs8.der p256.old.der p256.pkcs8.der ed25519.pkcs8.der p256.csr.der; do
    head -c 30 $file >cut.der && same pin cut.der
    head -c -1 $file >cut.der && same pin cut.der
done

# What needs OpenSSL, and what it cannot check.
openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:secp256k1 -out k1.key
quietly openssl ec -in k1.key -outform DER -out k1.old.der
openssl pkey -in k1.key -outform DER -out k1.der
openssl genpkey -algorithm ed448 -out ed448.key
for file in k1.key k1.der k1.old.der ed448.key; do refused 'reading a private key of this kind' pin $file; done
openssl pkcs8 -topk8 -in ed25519.key -passout pass:secret -out encrypted.key
same pin encrypted.key
openssl pkcs8 -topk8 -in p256.key -passout pass:secret -outform DER -out encrypted.der && same pin encrypted.der
run half "$half" pin rsa.csr && run whole "$whole" pin rsa.csr
cmp half.out whole.out && grep -qF "cannot check the request's signature" half.err || { echo "half: no warning of an RSA request" && exit 1; }

# Certificates, policies, formats, plans.
openssl req -x509 -key rsa.key -days 3000 -subj /CN=Root -addext basicConstraints=critical,CA:TRUE -out root.pem
quietly openssl x509 -req -in p256.csr -CA root.pem -CAkey rsa.key -set_serial 7 -days 90 -copy_extensions copy -out leaf.pem
openssl x509 -in leaf.pem -outform DER -out leaf.der
cat leaf.pem root.pem >chain.pem
for file in leaf.pem leaf.der chain.pem; do same pin $file && same inspect $file --json && same pin $file --as okhttp; done
same pin chain.pem p384.pub --as policy
"$whole" pin chain.pem p384.pub --as policy >policy.json
cp policy.json anchored.json && sed -i 's/"pins"/"anchors": {"include": ["root.pem"]}, "pins"/' anchored.json
formats=$(grep -oP '^- `--to FORMAT`.*\(values: \K[^)]+' "$root/Sources/PintleTools/PintleTools.docc/CommandExport.md" | tr -d ,)
for policy in policy.json anchored.json; do
    for command in lint inspect; do same $command $policy && same $command $policy --json; done
    for format in $formats; do same export $policy --to $format --pins-at leaf; done
done
quietly "$whole" export policy.json --to nsc >config.xml
quietly "$whole" export policy.json --to ats --pins-at leaf >Info.plist
same import --from nsc config.xml && same import --from ats Info.plist && same import --from nsc Info.plist
cat >pintle-sync.json <<'END'
{"version": 1, "policy": "policy.json", "targets": [{"format": "ats", "file": "Info.plist", "pinsAt": "leaf"},
 {"format": "nsc", "file": "config.xml"}, {"format": "okhttp", "file": "Pins.kt"}, {"format": "envoy", "file": "pins.yaml", "pinsAt": "leaf"}]}
END
same sync --check && quietly "$half" sync >half.sync && same sync --check && same sync && same sync --check --json
for plan in "$root"/Examples/plans/*.json; do same plan "$plan" --at 2026-11-20; done

# Updates.
quietly "$half" keygen --out update.key >/dev/null
same inspect update.key.pub
sign=(sign --version 7 --issued 2026-11-20T00:00:00Z --expires 2099-01-01T00:00:00Z policy.json)
same "${sign[@]}" --key update.key && cp half.out 7.json
same "${sign[@]}" --key ed25519.key
same "${sign[@]}" --key p256.key
for file in both unlike; do openssl base64 -in $file.der | sed '1i -----BEGIN PRIVATE KEY-----' | sed '$a -----END PRIVATE KEY-----' >$file.key && same "${sign[@]}" --key $file.key; done
PINTLE_KEY_PASSPHRASE=secret refused 'reading an encrypted key' "${sign[@]}" --key encrypted.key
same verify --trusted update.key.pub --bundled policy.json 7.json
same verify --trusted ed25519.pub --bundled policy.json 7.json
same inspect 7.json

for words in 'check a.example.com' 'audit a.example.com' demo; do refused "'pintle ${words%% *}'" $words; done
refused 'asking a server' pin a.example.com
echo "half: without OpenSSL the tool prints the same, $compared times"
