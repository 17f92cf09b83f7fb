#!/usr/bin/env python3
"""usage: check_note.py NOTE PUBLIC_KEY_BASE64 - whether OpenSSL's own command finds that the checkpoint in the file NOTE was signed by that key.

Knows nothing of runwarden's code: the form is that of C2SP's signed-note and tlog-checkpoint. Exits 1 and says why where it is not, 77 without
the openssl command.
"""
import base64
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

SPKI = bytes.fromhex("302a300506032b6570032100")  # RFC 8410: an Ed25519 public key follows


def is_signed(text, key, signature):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "key").write_bytes(SPKI + key)
        (folder / "text").write_bytes(text)
        (folder / "signature").write_bytes(signature)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", folder / "key", "-rawin", "-in", folder / "text",
                   "-sigfile", folder / "signature"]
        return subprocess.run(command, capture_output=True).returncode == 0


def main():
    if not shutil.which("openssl"):
        sys.exit(77)
    note = pathlib.Path(sys.argv[1]).read_bytes()
    key = base64.b64decode(sys.argv[2], validate=True)
    text, _, signatures = note.rpartition(b"\n\n")
    text += b"\n"
    origin, size, root = text.decode().splitlines()
    if len(base64.b64decode(root, validate=True)) != 32 or str(int(size)) != size:
        sys.exit("size or root does not read")
    wanted = hashlib.sha256(origin.encode() + b"\n\x01" + key).digest()[:4]
    for line in signatures.decode().splitlines():
        dash, name, blob = line.split(" ")
        blob = base64.b64decode(blob, validate=True)
        if dash == "—" and name == origin and blob[:4] == wanted and is_signed(text, key, blob[4:]):
            return
    sys.exit("no signature of that key")


if __name__ == "__main__":
    main()
