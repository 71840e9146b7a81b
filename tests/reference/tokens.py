"""Splits a script into tokens and supplies the statement ends that newlines stand for.

A newline ends a statement when no `(` or `[` is open, the last token could end an expression and
the next token is not `{`; `}` supplies a missing end.
"""

import re
from collections import namedtuple

from .errors import PipeError

Token = namedtuple("Token", "kind text line column")

KEYWORDS = {"import", "const", "fn", "pipe", "for", "in", "return", "where", "and", "or", "not", "image"}

PATTERN = re.compile(r"""
    (?P<space>[ \t\r]+)
  | (?P<comment>\#[^\n]*)
  | (?P<newline>\n)
  | (?P<number>0[xX][0-9a-fA-F_]+ | [0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<symbol>\.\.<|\.\.|\*\*|//|==|!=|<=|>=|->|[-+*/%<>=?:,.;@(){}\[\]])
""", re.VERBOSE)

ENDS_A_STATEMENT = {"name", "number", "string", ")", "]", "}"}


class SourcePoint:
    """What an error needs to know about a place when there is no syntax node yet."""

    def __init__(self, line, path=None):
        self.line = line
        self.path = path


def raw_tokens(text, path):
    """All tokens with newlines, comments and blanks dropped or marked."""
    position, line, line_start = 0, 1, 0
    while position < len(text):
        match = PATTERN.match(text, position)
        if not match:
            raise PipeError(f"unexpected character {text[position]!r}", SourcePoint(line, path))
        kind, word = match.lastgroup, match.group()
        if kind == "newline":
            yield Token("newline", "\n", line, position - line_start + 1)
            line, line_start = line + 1, match.end()
        elif kind == "name":
            yield Token(word if word in KEYWORDS else "name", word, line, position - line_start + 1)
        elif kind == "symbol":
            yield Token(word, word, line, position - line_start + 1)
        elif kind in ("number", "string"):
            yield Token(kind, word, line, position - line_start + 1)
        position = match.end()
    yield Token("newline", "\n", line, position - line_start + 1)
    yield Token("end", "", line, position - line_start + 1)


def tokenize(text, path=None):
    """The tokens of a script; statement ends are `;` tokens."""
    tokens, depth, newline = [], 0, None
    for token in raw_tokens(text, path):
        if token.kind == "newline":
            newline = newline or token
            continue
        last = tokens[-1].kind if tokens else ";"
        if newline and depth == 0 and last in ENDS_A_STATEMENT and token.kind != "{":
            tokens.append(Token(";", "", newline.line, newline.column))
            last = ";"
        newline = None
        if token.kind == "}" and last not in (";", "{"):
            tokens.append(Token(";", "", token.line, token.column))
        if token.kind in ("(", "["):
            depth += 1
        elif token.kind in (")", "]"):
            depth = max(0, depth - 1)
        tokens.append(token)
    return tokens
