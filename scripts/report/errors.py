"""Failures that the user can meet."""


class ReportError(Exception):
    """A failure that the user can meet: one line "thing: reason; remedy"."""

    def __init__(self, thing, reason, remedy=""):
        super().__init__(thing, reason, remedy)  # as given, so that it survives pickling

    def __str__(self):
        thing, reason, remedy = self.args
        return f"{thing}: {reason}" + (f"; {remedy}" if remedy else "")


class TypedError(ReportError):
    """The same where what was typed is the mistake, which only a ledger could tell: exit code 2."""
