"""Root certificates of a board, few because each takes heap in a TLS handshake.

They are read from this computer's store by fingerprint, so the project contains none; a person can
add one to the file in PEM form.
"""

import ssl
from hashlib import sha256
from pathlib import Path

ROOTS = {
    "96bcec06264976f37460779acf28c5a7cfe8a3c0aae11a8ffcee05c0bddf08c6": "ISRG Root X1 (Let's Encrypt)",
    "69729b8e15a86efc177a57afb7171dfc64add28c2fca8cf1507e34453ccb1470": "ISRG Root X2 (Let's Encrypt)",
    "d947432abde7b7fa90fc2e6b59101b1280e0e1c7e4e40fa3c6887fff57a7f4cf": "GTS Root R1 (Google Trust Services)",
    "349dfa4058c5e263123b398ae795573c4e1313c83fe68f93556cd5e8031b3c7d": "GTS Root R4 (Google Trust Services)",
    "cb3ccbb76031e5e0138f8dd39a23f9de47ffc35e43c1144cea27d46a5ab1cb5f": "DigiCert Global Root G2",
    "8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e": "Amazon Root CA 1",
    "45140b3247eb9cc8c5b4f0d7b53091f73292089e6e5a63e2749dd3aca9198eda": "Go Daddy Root CA - G2 (Telegram)",
    "ebd41040e4bb3ec742c9e381d31ef2a41a48b6685c96e7cef3c1df6cd4331c99": "GlobalSign Root CA",
}


def root_bundle() -> str:
    found = []
    for certificate in ssl.create_default_context().get_ca_certs(binary_form=True):
        name = ROOTS.get(sha256(certificate).hexdigest())
        if name:
            found.append(f"# {name}\n{ssl.DER_cert_to_PEM_cert(certificate)}")
    return "".join(found)


def write_root_bundle(path: Path) -> None:
    if not path.exists() and (certificates := root_bundle()):
        path.write_text(certificates, encoding="ascii")
