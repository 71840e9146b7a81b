"""Parses tokens into syntax nodes by recursive descent, following the grammar of the language.

A node is a bag of named fields with a `kind`; the evaluator dispatches on the kind.
"""

from types import SimpleNamespace

from .errors import PipeError
from .tokens import SourcePoint, tokenize

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Parser:
    """One file's parser: a token list and a position in it."""

    def __init__(self, text, path=None):
        self.path = path
        self.tokens = tokenize(text, path)
        self.position = 0

    # Tokens

    @property
    def token(self):
        return self.tokens[self.position]

    def ahead(self, count=1):
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def at(self, *kinds):
        return self.token.kind in kinds

    def take(self, kind):
        """The current token if it has this kind, then moves on; else None."""
        if self.token.kind != kind:
            return None
        self.position += 1
        return self.tokens[self.position - 1]

    def need(self, kind):
        token = self.take(kind)
        if token is None:
            found = self.token.text or "the end of the statement"
            raise PipeError(f"expected {kind!r}, found {found!r}", SourcePoint(self.token.line, self.path))
        return token

    def node(self, kind, token, **fields):
        return SimpleNamespace(kind=kind, line=token.line, column=token.column, path=self.path, **fields)

    def comma_list(self, item, close):
        """Items up to `close`, which is taken; a trailing comma is allowed."""
        items = []
        while not self.at(close):
            items.append(item())
            if not self.take(","):
                break
        self.need(close)
        return items

    # Files and items

    def file(self):
        items = []
        while not self.at("end"):
            if not self.take(";"):
                items.append(self.item())
                self.need(";")
        if not items:
            raise PipeError("a file without any item", SourcePoint(1, self.path))
        return items

    def item(self):
        start = self.token
        if self.take("import"):
            return self.node("import", start, name=self.need("string").text[1:-1])
        if self.at("const"):
            return self.const()
        if self.at("fn"):
            return self.function()
        annotations = self.annotations()
        start = self.need("pipe")
        name = self.need("name").text
        self.need("(")
        params = self.comma_list(self.param, ")")
        self.need("->")
        outputs = self.outputs()
        return self.node("pipe", start, name=name, params=params, outputs=outputs, body=self.block(),
                         annotations=annotations)

    def const(self):
        start = self.need("const")
        name = self.need("name").text
        self.need("=")
        return self.node("const", start, name=name, value=self.expression())

    def function(self):
        start = self.need("fn")
        name = self.need("name").text
        self.need("(")
        params = self.comma_list(self.param, ")")
        returns = self.type() if self.take("->") else None
        if self.take("="):
            value, body = self.expression(), None
        else:
            value, body = None, self.block()
        return self.node("function", start, name=name, params=params, returns=returns, value=value, body=body)

    def param(self):
        start = self.need("name")
        stated = self.type() if self.take(":") else None
        default = self.expression() if self.take("=") else None
        bounds = self.range() if self.take("in") else None
        return self.node("param", start, name=start.text, type=stated, default=default, bounds=bounds)

    def type(self):
        start = self.token
        image = self.take("image") is not None
        name = self.need("name").text
        extents = None
        if not image and self.take("["):
            extents = self.comma_list(self.expression, "]")
        return self.node("type", start, name=name, image=image, extents=extents)

    def outputs(self):
        start = self.token
        if not self.take("("):
            return [self.node("output", start, name=None, type=self.type())]

        def one():
            name = self.need("name")
            self.need(":")
            return self.node("output", name, name=name.text, type=self.type())
        return self.comma_list(one, ")")

    # Statements

    def block(self):
        self.need("{")
        statements = []
        while not self.at("}"):
            if not self.take(";"):
                statements.append(self.statement())
                self.need(";")
        self.need("}")
        return statements

    def annotations(self):
        found = []
        while self.at("@"):
            start = self.need("@")
            name = self.need("name").text
            args = self.comma_list(self.argument, ")") if self.take("(") else []
            found.append(self.node("annotation", start, name=name, args=args))
            self.take(";")
        return found

    def statement(self):
        annotations = self.annotations()
        start = self.token
        if self.take("for"):
            name = self.need("name").text
            self.need("in")
            bounds = self.range()
            return self.node("for", start, name=name, range=bounds, body=self.block())
        if self.at("const"):
            return self.const()
        if self.take("return"):
            values = [self.expression()]
            while self.take(","):
                values.append(self.expression())
            return self.node("return", start, values=values)
        name = self.need("name").text
        dims = []
        while self.take("["):
            dims.append(self.comma_list(self.dim, "]"))
        stated = self.type() if self.take(":") else None
        self.need("=")
        return self.node("define", start, name=name, dims=dims, type=stated, value=self.expression(),
                         annotations=annotations)

    def dim(self):
        start = self.token
        value = self.expression()
        bounds = self.range() if self.take("in") else None
        return self.node("dim", start, value=value, range=bounds)

    def range(self):
        start = self.token
        first = self.expression()
        for operator in ("..", "..<"):
            if self.take(operator):
                return self.node("range", start, first=first, last=self.expression(), open=operator == "..<")
        return self.node("range", start, first=first, last=None, open=False)

    # Expressions, loosest first

    def expression(self):
        start = self.token
        condition = self.either()
        if not self.take("?"):
            return condition
        then = self.expression()
        self.need(":")
        return self.node("choose", start, condition=condition, then=then, other=self.expression())

    def binary_chain(self, operand, operators):
        left = operand()
        while self.at(*operators):
            operator = self.token
            self.position += 1
            left = self.node("binary", operator, operator=operator.kind, left=left, right=operand())
        return left

    def either(self):
        return self.binary_chain(self.both, ("or",))

    def both(self):
        return self.binary_chain(self.negation, ("and",))

    def negation(self):
        start = self.token
        if self.take("not"):
            return self.node("unary", start, operator="not", value=self.negation())
        return self.comparison()

    def comparison(self):
        left = self.sum()
        if not self.at(*COMPARISONS):
            return left
        operator = self.token
        self.position += 1
        result = self.node("binary", operator, operator=operator.kind, left=left, right=self.sum())
        if self.at(*COMPARISONS):
            raise PipeError("comparisons do not chain", SourcePoint(self.token.line, self.path))
        return result

    def sum(self):
        return self.binary_chain(self.product, ("+", "-"))

    def product(self):
        return self.binary_chain(self.minus, ("*", "/", "//", "%"))

    def minus(self):
        start = self.token
        if self.take("-"):
            return self.node("unary", start, operator="-", value=self.minus())
        return self.power()

    def power(self):
        base = self.postfix()
        operator = self.token
        if self.take("**"):
            return self.node("binary", operator, operator="**", left=base, right=self.minus())
        return base

    def postfix(self):
        value = self.primary()
        while self.at(".", "["):
            start = self.token
            if self.take("["):
                value = self.node("index", start, value=value, items=self.comma_list(self.expression, "]"))
                continue
            self.need(".")
            name = self.need("name").text
            if self.take("("):
                value = self.node("method", start, value=value, name=name,
                                  args=self.comma_list(self.expression, ")"))
            else:
                value = self.node("member", start, value=value, name=name)
        return value

    def primary(self):
        start = self.token
        if self.take("number"):
            return self.node("number", start, text=start.text.replace("_", ""))
        if self.take("string"):
            return self.node("string", start, text=start.text[1:-1])
        if self.at("name") and self.ahead().kind == "(":
            return self.call()
        if self.take("name"):
            return self.node("name", start, name=start.text)
        if self.take("["):
            return self.node("array", start, items=self.comma_list(self.expression, "]"))
        self.need("(")
        first = self.expression()
        if self.take(")"):
            return first
        self.need(",")
        return self.node("tuple", start, items=[first] + self.comma_list(self.expression, ")"))

    def call(self):
        """A call `f(a, name: b)` or a reduction `sum(i in range where condition: body)`."""
        start = self.need("name")
        self.need("(")
        args = []
        while not self.at(")"):
            arg = self.argument()
            if self.at("in"):
                if args:
                    raise PipeError("a binder after an argument", SourcePoint(start.line, self.path))
                return self.reduction(start, arg.value)
            args.append(arg)
            if not self.take(","):
                break
        self.need(")")
        return self.node("call", start, name=start.text, args=args)

    def argument(self):
        start = self.token
        if self.take("fn"):
            self.need("(")
            names = self.comma_list(lambda: self.need("name").text, ")")
            self.need("=")
            return self.node("arg", start, label=None, value=self.node("lambda", start, names=names,
                                                                       value=self.expression()))
        if self.at("name") and self.ahead().kind == ":":
            self.position += 2
            inner = self.argument() if self.at("fn") else None
            return self.node("arg", start, label=start.text, value=inner.value if inner else self.expression())
        return self.node("arg", start, label=None, value=self.expression())

    def reduction(self, start, first):
        binders, subject = [], first
        while True:
            self.need("in")
            binders.append(self.node("binder", start, target=subject, range=self.range()))
            if not self.take(","):
                break
            subject = self.expression()
        where = self.expression() if self.take("where") else None
        self.need(":")
        body = self.expression()
        self.take(",")
        self.need(")")
        return self.node("reduce", start, name=start.text, binders=binders, where=where, body=body)


def parse(text, path=None):
    """The items of a script."""
    return Parser(text, path).file()
