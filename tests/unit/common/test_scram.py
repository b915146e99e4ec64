"""SCRAM credentials are stored as RFC 5802 derives them."""

from __future__ import annotations

from base64 import b64decode

from pykafka_classic.common.scram import BY_NAME


def test_the_stored_form_is_that_of_rfc_7677s_example() -> None:
    sha256, salt = BY_NAME["SCRAM-SHA-256"], b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    keys = "stored_key=WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=,server_key=wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    stored = sha256.stored_form(sha256.salted_password("pencil", salt, 4096), salt, 4096)
    assert stored == f"salt=W22ZaJ0SNY7soEsUEjb6gQ==,{keys},iterations=4096"
