"""The place of token files: a folder, or a folder of a remote storage by URL."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from toksmith._base.checks import file_path
from toksmith.corpus.paths import AnyPath
from toksmith.corpus.remote import as_remote_errors, is_url, local_path, system_of
from toksmith.errors import FormatError, OptionError, ToksmithError
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.manifest import NAME, Manifest, parse_manifest, read_manifest
from toksmith.tokenfiles.spool import check_same

WORK = ".toksmith"
"""The folder of unfinished work, in the folder of the output."""


class Output:
    """A folder for token files, on this machine.

    Args:
        folder: the folder.

    Attributes:
        folder: where files are put together.
        work: the folder of unfinished work.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / WORK

    def __str__(self) -> str:
        return str(self.folder)

    def manifest(self) -> Manifest | None:
        """Return the manifest of finished files; ``None`` if there is none."""
        return read_manifest(self.folder)

    def check_free(self) -> None:
        """Check that the folder is missing, empty, or holds only unfinished work.

        Raises:
            OptionError: it holds something else.
        """
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise OptionError(f"{self.folder} is a file: give a folder for the token files")
        if self.work.exists():
            return
        if held := next((path.name for path in self.folder.iterdir()), None):
            raise OptionError(
                f"{self.folder} is not empty ({held}): give an empty folder for the token files"
            )

    def check_shared(self) -> None:
        """Check that other machines may see the work.

        Raises:
            OptionError: they cannot.
        """

    def publish(self, manifest: Manifest) -> None:
        """Make finished files visible; nothing is left to do for a folder."""


class RemoteOutput(Output):
    """A folder of a remote storage.

    The work, and the files until they are uploaded, are in the cache of this machine's user. The
    manifest is uploaded last.

    Args:
        url: the URL of the folder.
    """

    def __init__(self, url: str) -> None:
        from platformdirs import user_cache_path

        name = hashlib.sha256(url.encode()).hexdigest()[:16]
        super().__init__(user_cache_path("toksmith") / "tokenize" / name)
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def manifest(self) -> Manifest | None:
        """Return the manifest of finished files; ``None`` if there is none."""
        system, path = system_of(self._url)
        try:
            with as_remote_errors():
                data: bytes = system.cat_file(f"{path}/{NAME}")
        except FileNotFoundError:
            return None
        except OSError as wrong:
            raise FormatError(self._url, f"cannot be read: {wrong}") from wrong
        return parse_manifest(data, f"{self._url}/{NAME}")

    def check_free(self) -> None:
        """Check that the folder is missing or empty.

        Raises:
            OptionError: it holds something else.
        """
        if self.work.exists():
            return
        system, path = system_of(self._url)
        try:
            with as_remote_errors():
                held = system.ls(path, detail=False)
        except FileNotFoundError:
            return
        except OSError as wrong:
            raise OptionError(f"{self._url} cannot be read: {wrong}") from wrong
        if held:
            raise OptionError(
                f"{self._url} is not empty ({held[0]}): give an empty folder for the token files"
            )

    def check_shared(self) -> None:
        """Refuse: the work is in a cache of this machine.

        Raises:
            OptionError: always.
        """
        raise OptionError(
            f"{self._url} is a URL, and shards need a folder that all machines see: give such a "
            "folder, and upload the files once they are finished"
        )

    def publish(self, manifest: Manifest) -> None:
        """Upload the files, the manifest last, and remove them here.

        Raises:
            OptionError: a file cannot be written there; the same call uploads again.
        """
        if not (self.folder / NAME).exists():  # they were uploaded before
            return
        system, path = system_of(self._url)
        try:
            with as_remote_errors():
                for name in (*(file.name for file in manifest.files), NAME):
                    system.makedirs(f"{path}/{name}".rpartition("/")[0], exist_ok=True)
                    system.put_file(str(self.folder / name), f"{path}/{name}")
        except OSError as wrong:
            raise OptionError(f"{self._url} cannot be written: {wrong}") from wrong
        shutil.rmtree(self.folder, ignore_errors=True)


def unless_finished(place: Output, job: Job, work: Callable[[], Manifest]) -> Manifest:
    """Do the work of a job; if that fails because another process finished it, return its result.

    The other process removes the folder of unfinished work, in which this one may be at any place.

    Args:
        place: the output, which had no manifest before.
        job: the job.
        work: does the work.

    Raises:
        OptionError: the other process had another job.
        ToksmithError: the work failed, and nobody else finished it.
    """
    try:
        return work()
    except (ToksmithError, OSError):
        manifest = None
        with suppress(ToksmithError):
            manifest = place.manifest()
        if manifest is None:
            raise
        check_same(manifest.job, job, place)
        shutil.rmtree(place.work, ignore_errors=True)
        return manifest


def output_of(path: AnyPath) -> Output:
    """Return the place that a path or a URL names.

    Example:
        >>> str(output_of("s3://bucket/tokens/")), str(output_of("tokens"))
        ('s3://bucket/tokens', 'tokens')
    """
    if is_url(path) and (local := local_path(str(path))) is None:
        return RemoteOutput(str(path))
    return Output(file_path(local if is_url(path) else path))
