"""Is this a place for a journal? Write-ahead logging needs memory shared between processes, which network file
systems do not give."""

from __future__ import annotations

from pathlib import Path

from engine.journal.journal_errors import JournalDenied, JournalOnNetwork

_NETWORK = frozenset({
    *("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "coda", "ncpfs", "ceph", "lustre", "gpfs"),
    *("glusterfs", "beegfs", "ocfs2", "gfs2", "drvfs", "vboxsf", "vmhgfs", "prl_fs", "davfs", "davfs2"),
})  # fmt: skip
_NETWORK_FUSE = frozenset({"sshfs", "rclone", "s3fs", "glusterfs", "gvfsd-fuse", "davfs2", "gcsfuse", "vmhgfs-fuse"})
MOUNTS = Path("/proc/self/mountinfo")


def is_network(fs_type: str) -> bool:
    kind, _, detail = fs_type.lower().partition(".")
    return detail in _NETWORK_FUSE if kind in ("fuse", "fuseblk") else kind in _NETWORK


def fs_type(path: Path, mounts: str) -> str:
    """The file system type of `path` by the text of /proc/self/mountinfo; empty where it cannot tell."""
    best, found = -1, ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = Path(_unescape(fields[4]))
        # On equal length the later mount lies on top.
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), right.split(" ")[0]
    return found


def refuse_network(path: Path, kind: str) -> None:
    """Raises JournalOnNetwork where the file system `kind` is a network's."""
    if is_network(kind):
        raise JournalOnNetwork(
            f"The journal cannot be kept in {path}: it is on a network file system ({kind}), where two machines could"
            " damage it.",
            "Clone the repository to a local disk and run devteam there.",
        )


def refuse_others(path: Path) -> None:
    """A repository may come with a link in the journal's place, to a file of the user's, or with a pipe, which whoever
    opens it waits for. Raises JournalDenied."""
    if path.is_symlink():
        raise JournalDenied(
            f"The journal {path} is a symbolic link, which is not followed.", f"Remove it: `rm {path}`."
        )
    if path.exists() and not path.is_file():
        what = "folder" if path.is_dir() else "pipe, a socket or a device"
        raise JournalDenied(f"The journal {path} is a {what}, not a file.", f"Move it away: `mv {path} {path}.aside`.")


def mounts() -> str:
    """What the kernel says of mounts; empty on systems without /proc, where no place is refused."""
    try:
        return MOUNTS.read_text("utf-8", "replace")
    except OSError:
        return ""


def _unescape(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
