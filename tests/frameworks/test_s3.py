"""Corpora on S3, by s3fs, from a local server of moto."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from toksmith.corpus import Reading, expand
from toksmith.corpus.pieces import fingerprint, pieces, read_piece
from toksmith.corpus.remote import RemoteFile
from toksmith.errors import FormatError

server = pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")

TEXTS = [f"text {i} é" for i in range(5000)]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
VARIABLES = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def system() -> Iterator[object]:
    threaded = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    threaded.start()
    host, port = threaded.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in VARIABLES.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        found = s3fs.S3FileSystem(skip_instance_cache=True)
        found.mkdir("corpus")
        found.pipe("corpus/part/a.jsonl", LINES)
        found.pipe("corpus/part/b.jsonl", LINES)
        yield found
        s3fs.S3FileSystem.clear_instance_cache()
    threaded.stop()


def test_pieces(system: object) -> None:
    found = pieces("s3://corpus/part/*.jsonl", Reading(), 50_000)
    assert {str(piece.path) for piece in found} == {
        "s3://corpus/part/a.jsonl",
        "s3://corpus/part/b.jsonl",
    }
    assert len(found) > 4
    texts = [
        block.data[start:end].decode()  # type: ignore[union-attr]
        for piece in found
        for block in read_piece(piece, Reading())
        for start, end in block.bounds.tolist()
    ]
    assert texts == TEXTS * 2


def test_folders_and_fingerprints(system: object) -> None:
    first, second = expand("s3://corpus/part")
    assert fingerprint(first) == fingerprint(second)  # the ETag is a hash of the content
    assert fingerprint(first).startswith(f"{len(LINES)}-")


def test_a_missing_bucket(system: object) -> None:
    with pytest.raises(FormatError, match="no such file, folder or bucket"):
        expand("s3://missing/a.jsonl")


def test_without_permission(system: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.exceptions import ClientError

    async def refuse(*_: object, **__: object) -> object:
        raise ClientError(
            {"Error": {"Code": "AccessDenied", "Message": "Access Denied"}}, "GetObject"
        )

    (piece,) = pieces("s3://corpus/part/a.jsonl", Reading())
    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", refuse)
    assert isinstance(piece.path, RemoteFile)
    with pytest.raises(FormatError, match=r"permission denied \(Access Denied\)"):
        list(read_piece(piece, Reading()))


def test_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(FormatError, match="cannot be read"):
        expand("s3://corpus/a.jsonl")
