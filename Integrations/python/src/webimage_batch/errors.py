"""The errors of the package."""

from __future__ import annotations

from typing import ClassVar


class BatchError(RuntimeError):
    """`webimage batch` did not complete its work.

    Results received before the error are valid, but they are not all. An image that cannot be downloaded or decoded
    is not an error: it has a record with a status, like any other.
    """

    _default_status: ClassVar[int | None] = None

    def __init__(self, message: str, *, exit_status: int | None = None) -> None:
        super().__init__(message)
        self.exit_status = self._default_status if exit_status is None else exit_status
        """The exit status of the process, or for the command; negative for a signal, `None` if there is none."""

    def __reduce__(self) -> tuple[object, ...]:
        # Spark and Ray pickle errors; the default would lose the keyword argument.
        return (_rebuild, (type(self), str(self), self.exit_status))


class UsageError(BatchError):
    """`webimage batch` refused its options (exit status 64)."""

    _default_status = 64


class FolderError(BatchError):
    """The output folder belongs to a run with another list or other options (exit status 65)."""

    _default_status = 65


class OutputError(BatchError):
    """The output could not be written, for example because the disk is full (exit status 74)."""

    _default_status = 74


class TryAgainError(BatchError):
    """Too many downloads failed, perhaps because the network was out (exit status 75): run it again later."""

    _default_status = 75


def _rebuild(kind: type[BatchError], message: str, exit_status: int | None) -> BatchError:
    return kind(message, exit_status=exit_status)


def error_for_exit(status: int, log: str) -> BatchError:
    """Returns the error for an exit status other than 0, with the last lines of standard error."""
    kinds: dict[int, type[BatchError]] = {64: UsageError, 65: FolderError, 74: OutputError, 75: TryAgainError}
    how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
    message = f"webimage batch {how}"
    return kinds.get(status, BatchError)(f"{message}: {log}" if log else f"{message}.", exit_status=status)
