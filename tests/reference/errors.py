"""The one exception of the evaluator: what is wrong with a script, its sizes or its parameters."""


class PipeError(Exception):
    """A located error. `kind` is "script" (wrong for every size) or "size" (found when running)."""

    def __init__(self, message, node=None, kind="script"):
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.line = getattr(node, "line", None)
        self.path = getattr(node, "path", None)

    def locate(self, node):
        """Gives an error that knows no line yet that of `node`."""
        if self.line is None:
            self.line = getattr(node, "line", None)
            self.path = getattr(node, "path", None)
        return self

    def __str__(self):
        where = f"{self.path or 'script'}:{self.line}: " if self.line else ""
        return f"{where}{self.kind} error: {self.message}"
