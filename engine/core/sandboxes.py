"""The sandbox modes there are, strongest first. What each one does is in `engine/perform/process`."""

from enum import StrEnum


class SandboxName(StrEnum):
    """What keeps agents and checks in their clone."""

    BWRAP = "bwrap"
    """bubblewrap."""
    NAMESPACES = "namespaces"
    """The same recipe with the kernel's own calls, where bubblewrap is not installed."""
    LANDLOCK = "landlock"
    """Landlock and seccomp, where no namespaces are allowed."""
    NONE = "none"
    """Nothing."""

    @property
    def mounts(self) -> bool:
        """The clone is seen at the checkout's path, HOME is a private one, the rest is hidden: a fence of our own."""
        return self in (SandboxName.BWRAP, SandboxName.NAMESPACES)


AUTO = "auto"
"""The strongest that works here."""
