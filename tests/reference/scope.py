"""Names while a script is evaluated: nested scopes, the definition being evaluated, lists, results of pipes."""

from .errors import PipeError
from .values import Value


class Frame:
    """One indexed definition while its body is evaluated at `count` points at once. `reads` collects what is
    read, when the point of the evaluation is to infer the domain."""

    def __init__(self, count, reads=None):
        self.count, self.reads = count, reads


class ListValue:
    """A compile-time list: index to value."""

    def __init__(self):
        self.items = {}


class Outputs:
    """What a called pipe gives: values by name."""

    def __init__(self, values):
        self.values = values


class Scope:
    """Names of one block. `frame` is the definition in progress; `owner` the block that list elements of
    this one go to (a round of a `for` passes them outward)."""

    def __init__(self, parent, frame=None, owner=None, outermost=False):
        self.parent, self.frame, self.names = parent, frame, {}
        self.owner = owner or self
        self.outermost = outermost

    def find(self, name):
        """The scope that has a name, or None."""
        scope = self
        while scope is not None:
            holder = scope.holder(name)
            if holder is not None:
                return holder
            scope = scope.parent
        return None

    def holder(self, name):
        """This scope, or one that it imports from, if that has the name itself."""
        return self if name in self.names else None

    def look_up(self, name, node):
        scope = self.find(name)
        if scope is None:
            raise PipeError(f"there is no value `{name}`", node)
        value = scope.names[name]
        if isinstance(value, Value) and not value.uniform and scope.frame is not self.frame:
            raise PipeError(f"`{name}` depends on the coordinates of an outer definition", node)
        return value

    def define(self, name, value, node):
        """A value is defined once; inner blocks may not redefine it. Names of the prelude may be hidden."""
        scope = self.find(name)
        if scope is not None and not scope.outermost:
            raise PipeError(f"`{name}` is defined twice", node)
        self.names[name] = value

    def inner(self, frame=None):
        """A scope for coordinates or binders."""
        return Scope(self, frame or self.frame, self.owner)


class LazyConstants(Scope):
    """The constants of a file, evaluated when they are first used."""

    def __init__(self, parent, evaluate, outermost=False):
        super().__init__(parent, outermost=outermost)
        self.evaluate, self.pending, self.busy = evaluate, {}, set()

    def holder(self, name):
        if name in self.pending and name not in self.names:
            if name in self.busy:
                raise PipeError(f"constant `{name}` needs itself", self.pending[name])
            self.busy.add(name)
            self.names[name] = self.evaluate(self.pending[name], self)
        return super().holder(name)
