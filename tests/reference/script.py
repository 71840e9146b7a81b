"""Loads scripts with their imports and the prelude, binds inputs and parameters, runs a pipe."""

import glob
import os

from . import arithmetic as a
from .errors import PipeError
from .evaluate import Evaluator
from .scope import LazyConstants, Scope
from .syntax import parse
from .values import Image, Type, Value, integer, type_named

PRELUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lang", "prelude")


class Module(LazyConstants):
    """A file: its constants are names, its functions and pipes are items. `imports` are other modules."""

    def __init__(self, parent, evaluator, outermost=False):
        super().__init__(parent, self.constant_value, outermost)
        self.evaluator, self.own, self.imports = evaluator, {}, []

    def constant_value(self, node, scope):
        value = self.evaluator.evaluate(node.value, scope)
        if not isinstance(value, (Value, Image)) or not value.const:
            raise PipeError("a constant cannot depend on parameters or pixels", node)
        return self.evaluator.without_literal(value)

    def add(self, node):
        name = node.name
        if node.kind == "const":
            if name in self.pending:
                raise PipeError(f"`{name}` is defined twice", node)
            self.pending[name] = node
        elif name in self.own:
            raise PipeError(f"`{name}` is defined twice", node)
        else:
            node.scope = self
            self.own[name] = node

    def items(self, name):
        """The function or pipe with a name: of this file, of its imports, of the prelude."""
        if name in self.own:
            return self.own[name]
        found = {id(m.own[name]): m.own[name] for m in self.all_imports() if name in m.own}
        if len(found) > 1:
            raise PipeError(f"`{name}` comes from two imports")
        if found:
            return next(iter(found.values()))
        return self.parent.items(name) if self.parent is not None else None

    def all_imports(self):
        seen, waiting = [], list(self.imports)
        while waiting:
            module = waiting.pop()
            if module is not self and module not in seen:
                seen.append(module)
                waiting += module.imports
        return seen

    def holder(self, name):
        if name not in self.pending:
            for module in self.all_imports():
                if name in module.pending:
                    return LazyConstants.holder(module, name)
        return super().holder(name)


class Script:
    """A script ready to run."""

    def __init__(self, path=None, text=None, strict=False, no_fma=False, prelude=PRELUDE):
        self.evaluator = Evaluator(strict, no_fma)
        self.strict = strict
        self.modules = {}
        self.prelude = Module(None, self.evaluator, outermost=True)
        for name in sorted(glob.glob(os.path.join(prelude, "*.pipe"))) if prelude else []:
            for node in parse(read_text(name), name):
                self.prelude.add(node)
        self.main = self.load(path, text)

    def load(self, path, text=None):
        key = os.path.realpath(path) if path else None
        if key in self.modules:
            return self.modules[key]
        module = self.modules[key] = Module(self.prelude, self.evaluator)
        for node in parse(read_text(path) if text is None else text, path):
            if node.kind == "import":
                folder = os.path.dirname(path) if path else "."
                module.imports.append(self.load(os.path.join(folder, node.name)))
            else:
                module.add(node)
        return module

    @property
    def pipes(self):
        return {n: i for n, i in self.main.own.items() if i.kind == "pipe"}

    def pipe(self, name=None):
        if name is None and len(self.pipes) == 1:
            return next(iter(self.pipes.values()))
        if name not in self.pipes:
            raise PipeError(f"there is no pipe `{name}`" if name else "which pipe?")
        return self.pipes[name]

    def run(self, inputs, parameters=None, pipe=None):
        """Runs a pipe: `inputs` maps names to Images, `parameters` names to texts or numbers. Gives Images
        by output name, in order."""
        item = self.pipe(pipe)
        self.evaluator.rounds = 0
        self.evaluator.strict = self.strict or any(n.name == "strict" for n in item.annotations)
        scope = Scope(self.main)
        parameters = dict(parameters or {})
        for param in item.params:
            if self.is_picture(param):
                self.bind_picture(param, inputs, scope)
        for param in item.params:
            if not self.is_picture(param):
                self.bind_parameter(param, parameters, scope)
        if parameters:
            raise PipeError(f"the pipe has no parameter {', '.join(parameters)}")
        return self.evaluator.finish(item, self.evaluator.run_block(item.body, scope), scope)

    def is_picture(self, param):
        return param.type is not None and (param.type.image or param.type.extents is not None)

    def bind_picture(self, param, inputs, scope):
        if param.name not in inputs:
            raise PipeError(f"there is no picture for `{param.name}`", param)
        image = inputs[param.name]
        if image.type != type_named(param.type.name):
            raise PipeError(f"`{param.name}` is {param.type.name}, not {image.type}", param)
        extents = param.type.extents or [None, None]
        if image.rank != len(extents):
            raise PipeError(f"`{param.name}` has {len(extents)} dimensions, not {image.rank}", param, "size")
        for extent, (_, size) in zip(extents, image.domain):
            self.bind_extent(extent, size, scope, param)
        scope.define(param.name, self.evaluator.in_range(image, param, scope, param), param)

    def bind_extent(self, extent, size, scope, param):
        if extent is None or extent.kind == "name" and extent.name == "_":
            return
        if extent.kind == "name" and scope.find(extent.name) is None:
            scope.define(extent.name, integer(size), param)
            return
        if self.evaluator.whole_number(extent, scope, "an extent") != size:
            raise PipeError(f"`{param.name}` does not have the extents that are stated", param, "size")

    def bind_parameter(self, param, parameters, scope):
        wanted = type_named(param.type.name) if param.type else None
        if wanted is None:
            raise PipeError(f"parameter `{param.name}` needs a type", param)
        if param.name in parameters:
            value = parameter_value(parameters.pop(param.name), wanted, param)
        elif param.default is not None:
            value = self.evaluator.implicit(self.evaluator.value(param.default, scope), wanted, param)
            value = Value(value.type, value.comps)
        else:
            raise PipeError(f"`{param.name}` needs a value", param)
        scope.define(param.name, self.evaluator.in_range(value, param, scope, param), param)


def parameter_value(given, wanted, param):
    """A parameter from text such as `1.5` or `1,2,3`."""
    words = str(given).split(",")
    if len(words) not in (1, wanted.lanes):
        raise PipeError(f"`{param.name}` has {wanted.lanes} components", param)
    if wanted.base == "bool":
        comps = [w in ("1", "true", "True") for w in words]
    elif wanted.base in a.FLOATS:
        comps = [a.convert(a.f32(float(w)), "f32", wanted.base) for w in words]
    else:
        comps = [int(w, 0) for w in words]
        if any(not a.INTEGERS[wanted.base][0] <= c <= a.INTEGERS[wanted.base][1] for c in comps):
            raise PipeError(f"`{param.name}` does not fit {wanted}", param, "size")
    return Value(Type(wanted.base, wanted.lanes), comps * (wanted.lanes // len(comps)))


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()
