"""Operators and scalar functions on values: types by the language's rules, then lists of numbers."""

import math
import operator

from . import arithmetic as a
from .errors import PipeError
from .domains import add_ranges, combine, scale_range
from .values import Type, Value, by_lane, common_type, lanes_of, range_of, select

COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
           ">=": operator.ge}
EXACT = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def doubt(values, breaks=False):
    """How far a result may differ from another evaluator's: 0 not at all, 1 by rounding, 2 by anything.
    An operation that `breaks` turns a small difference into a large one, as does anything computed from a
    rounded integer."""
    level = max((v.inexact for v in values), default=0)
    return 2 if any(v.inexact and (breaks or v.type.base in a.INTEGERS or v.type.base == "bool") for v in values) \
        else int(level)


def result_of(base, comps, values, breaks=False, **more):
    """A Value computed from `values`."""
    return Value(Type(base, len(comps)), comps, const=all(v.const for v in values),
                 inexact=doubt(values, breaks), **more)


def arithmetic_type(values, node):
    """The type in which arithmetic on these values is done."""
    bases = [v.type.base for v in values]
    if any(b in a.FLOATS for b in bases):
        return "f32"
    return common_type(values, node, selecting=False) if "u32" in bases else "i32"


def binary(symbol, left, right, node):
    """`left symbol right` without contraction."""
    pair = (left, right)
    if symbol in ("and", "or"):
        return logical(symbol, left, right, node)
    if symbol in COMPARE:
        base = common_type(pair, node)
        both = [v.converted(base) for v in pair]
        comps = by_lane(lambda x, y: a.apply(COMPARE[symbol], x, y), both, node)
        return result_of("bool", comps, pair, breaks=True)
    if symbol == "**":
        return power(left, right, node)
    base = "f32" if symbol == "/" else arithmetic_type(pair, node)
    both = [v.converted(base) for v in pair]
    if symbol in EXACT:
        comps = by_lane(lambda x, y: a.arithmetic(EXACT[symbol], base, x, y), both, node)
    elif symbol == "/":
        comps = by_lane(lambda x, y: a.arithmetic(a.divide, base, x, y), both, node)
    else:
        comps = by_lane(lambda x, y: floor_division(symbol, base, x, y), both, node)
    integers = base in a.INTEGERS
    return result_of(base, comps, pair, form=combine(symbol, *both) if integers else None,
                     bounds=bounds_after(symbol, *both) if integers else None,
                     breaks=symbol in ("//", "%") or symbol == "/" and bool(right.inexact),
                     literal=left.literal and right.literal and integers and symbol in EXACT)


def floor_division(symbol, base, x, y):
    if base in a.INTEGERS:
        return a.arithmetic(a.floor_divide if symbol == "//" else a.floor_remainder, base, x, y)
    quotient = a.apply(a.floor, a.arithmetic(a.divide, base, x, y))
    if symbol == "//":
        return quotient
    return a.arithmetic(operator.sub, base, x, a.arithmetic(operator.mul, base, y, quotient))


def bounds_after(symbol, left, right):
    """What an integer result is known to lie in, where that is simple."""
    x, y = range_of(left), range_of(right)
    if symbol == "%" and y and y[0] == y[1] and y[0] > 0:
        return (0, y[0] - 1)
    if not x or not y:
        return None
    if symbol == "+":
        found = add_ranges(x, y)
    elif symbol == "-":
        found = add_ranges(x, scale_range(y, -1))
    elif symbol == "*":
        corners = [p * q for p in x for q in y]
        found = (min(corners), max(corners))
    elif symbol == "//" and y[0] == y[1] and y[0] > 0:
        found = (x[0] // y[0], x[1] // y[0])
    else:
        return None
    return found if -2**31 <= found[0] and found[1] < 2**31 else None


def logical(symbol, left, right, node):
    for value in (left, right):
        if value.type.base != "bool":
            raise PipeError(f"`{symbol}` wants bool, not {value.type}", node)
    function = (lambda x, y: x and y) if symbol == "and" else (lambda x, y: x or y)
    return result_of("bool", by_lane(lambda x, y: a.apply(function, x, y), (left, right), node), (left, right))


def power(left, right, node):
    """Repeated multiplication for a constant integer >= 0, else pow."""
    if right.const and right.uniform and right.type == Type("i32", 1) and right.number >= 0:
        base = a.promoted(left.type.base)
        factor = left.converted(base)
        one = 1.0 if base == "f32" else 1
        comps = []
        for comp in factor.comps:
            total = one if right.number == 0 else comp
            for _ in range(right.number - 1):
                total = a.arithmetic(operator.mul, base, total, comp)
            comps.append(total)
        return result_of(base, comps, (left, right))
    return call_scalar("pow", [left, right], node)


def negate(value, node):
    if value.type.base == "bool" and value.literal:
        raise PipeError("a bool has no sign", node)
    base = a.promoted(value.type.base)
    source = value.converted(base)
    comps = [a.arithmetic(operator.neg, base, c) for c in source.comps]
    return result_of(base, comps, (value,), literal=value.literal,
                     form=source.form and source.form.scaled(-1),
                     bounds=scale_range(range_of(source), -1) if base == "i32" else None)


def negate_literal(value):
    """-2147483648 is an i32 although 2147483648 is not."""
    return Value(Type("i32", 1), [-value.number], True, True)


def fused_sum(symbol, product_first, factors, other, node):
    """a*b + c, a*b - c or c +- a*b as one fused operation; None unless all of it is f32 arithmetic."""
    if arithmetic_type(factors, node) != "f32":
        return None
    values = [v.converted("f32") for v in (*factors, other)]

    def lane(x, y, z):
        if symbol == "-" and product_first:
            z = a.apply(operator.neg, z)
        elif symbol == "-":
            x = a.apply(operator.neg, x)
        return a.fma(x, y, z)
    return result_of("f32", by_lane(lane, values, node), values)


def choose(condition, then, other, node):
    if condition.type.base != "bool":
        raise PipeError(f"the condition of `?:` wants bool, not {condition.type}", node)
    base = common_type((then, other), node)
    values = (condition, then.converted(base), other.converted(base))
    comps = by_lane(select, values, node)
    bounds = None
    if base in a.INTEGERS and range_of(values[1]) and range_of(values[2]):
        x, y = range_of(values[1]), range_of(values[2])
        bounds = (min(x[0], y[0]), max(x[1], y[1]))
    found = result_of(base, comps, values[1:], breaks=bool(condition.inexact), bounds=bounds)
    found.const &= condition.const
    found.inexact = max(found.inexact, 2 if condition.inexact else 0)
    return found


# Scalar functions

def guarded(function):
    """A function of math on doubles whose domain errors give NaN and whose overflows infinity."""
    def call(*operands):
        try:
            return float(function(*operands))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf
    return call


def logarithm(function):
    return lambda x: -math.inf if x == 0 else guarded(function)(x) if x == x and x > 0 else math.nan


def raise_to(x, y):
    try:
        return math.pow(x, y)
    except ValueError:
        return math.inf if x == 0 else math.nan
    except OverflowError:
        return math.inf


EXPANDED = {  # by tolerance only
    "exp": guarded(math.exp), "exp2": guarded(lambda x: 2.0 ** x), "log": logarithm(math.log),
    "log2": logarithm(math.log2), "pow": raise_to, "sin": guarded(math.sin), "cos": guarded(math.cos),
    "tan": guarded(math.tan), "asin": guarded(math.asin), "acos": guarded(math.acos), "atan": guarded(math.atan),
    "atan2": guarded(math.atan2), "sinh": guarded(math.sinh), "cosh": guarded(math.cosh),
    "tanh": guarded(math.tanh), "cbrt": guarded(lambda x: math.copysign(abs(x) ** (1 / 3), x)),
}
ROUNDED = {"floor": a.floor, "ceil": a.ceil, "trunc": a.trunc, "round": a.round_even, "sqrt": a.square_root}
BITS = {"bit_and": operator.and_, "bit_or": operator.or_, "bit_xor": operator.xor}
ARGUMENTS = {"pow": 2, "atan2": 2, "clamp": 3, "fma": 3, "min": 2, "max": 2, "dot": 2, "cross": 2,
             "shift_left": 2, "shift_right": 2, **{name: 2 for name in BITS}}
ONE_ARGUMENT = ("abs", "sign", "fract", "length", "normalize", "any", "all")


def smaller(x, y):
    """NaN is ignored."""
    return x if x < y or y != y else y


def larger(x, y):
    return x if x > y or y != y else y


def is_scalar_function(name):
    return (name in EXPANDED or name in ROUNDED or name in ARGUMENTS or name in ONE_ARGUMENT
            or name.startswith("wrap_") and name[5:] in a.INTEGERS)


def call_scalar(name, values, node):
    """A scalar or pixel function of the language."""
    if name in ("min", "max") and 2 < len(values) <= 8:
        return call_scalar(name, [call_scalar(name, values[:-1], node), values[-1]], node)
    if len(values) != ARGUMENTS.get(name, 1):
        raise PipeError(f"{name} takes {ARGUMENTS.get(name, 1)} arguments, not {len(values)}", node)
    if name in EXPANDED:
        both = [v.converted("f32") for v in values]
        comps = by_lane(lambda *c: a.arithmetic(EXPANDED[name], "f32", *c), both, node)
        found = result_of("f32", comps, values)
        found.inexact = max(1, found.inexact)
        return found
    if name in ROUNDED:
        return result_of("f32", [a.arithmetic(ROUNDED[name], "f32", c) for c in values[0].converted("f32").comps],
                         values, breaks=name != "sqrt")
    if name in BITS or name.startswith("shift_"):
        return bits(name, values, node)
    if name.startswith("wrap_"):
        return result_of(name[5:], [a.apply(lambda v: a.wrap_to(v, name[5:]), c) for c in values[0].comps], values)
    return globals()["call_" + name](values, node)


def bits(name, values, node):
    base = arithmetic_type(values if name in BITS else values[:1], node)
    if base not in ("i32", "u32"):
        raise PipeError(f"{name} wants i32 or u32", node)
    if name in BITS:
        both = [v.converted(base) for v in values]
        return result_of(base, by_lane(lambda x, y: a.arithmetic(BITS[name], base, x, y), both, node), values)
    both = [values[0].converted(base), values[1]]
    function = left_shift if name == "shift_left" else right_shift
    return result_of(base, by_lane(lambda x, y: a.arithmetic(function, base, x, y), both, node), values)


def left_shift(x, n):
    """A distance outside 0..31 shifts everything out."""
    return x << n if 0 <= n <= 31 else 0


def right_shift(x, n):
    return x >> n if 0 <= n <= 31 else -1 if x < 0 else 0


def call_abs(values, node):
    base = a.promoted(values[0].type.base)
    return result_of(base, [a.arithmetic(abs, base, c) for c in values[0].converted(base).comps], values)


def call_sign(values, node):
    base = a.promoted(values[0].type.base)
    one = 1.0 if base == "f32" else 1
    def sign(v):
        return one if v > 0 else -one if v < 0 else 0 * one
    return result_of(base, [a.apply(sign, c) for c in values[0].converted(base).comps], values)


def call_fract(values, node):
    comps = values[0].converted("f32").comps
    return result_of("f32", [a.arithmetic(lambda v: v - a.floor(v), "f32", c) for c in comps], values, breaks=True)


def call_fma(values, node):
    return result_of("f32", by_lane(a.fma, [v.converted("f32") for v in values], node), values)


def extreme(function, values, node):
    base = common_type(values, node)
    both = [v.converted(base) for v in values]
    ranges = [range_of(v) for v in both]
    return result_of(base, by_lane(lambda x, y: a.apply(function, x, y), both, node), values,
                     bounds=clipped(function, ranges) if base in a.INTEGERS else None)


def clipped(function, ranges):
    """The range of a min or max when at least one operand's range is known."""
    known = [r for r in ranges if r]
    if not known:
        return None
    if len(known) == 2:
        return (function(known[0][0], known[1][0]), function(known[0][1], known[1][1]))
    low, high = (-2**31, known[0][1]) if function is smaller else (known[0][0], 2**31 - 1)
    return (low, high)


def call_min(values, node):
    return extreme(smaller, values, node)


def call_max(values, node):
    return extreme(larger, values, node)


def call_clamp(values, node):
    base = common_type(values, node)
    value, low, high = [v.converted(base) for v in values]
    return call_min([call_max([value, low], node), high], node)


def products(left, right, node):
    """Left to right: the first product plain, then one fused operation per component."""
    lanes = lanes_of((left, right), node)
    base = arithmetic_type((left, right), node)
    x, y = left.converted(base), right.converted(base)
    total = a.arithmetic(operator.mul, base, x.lane(0), y.lane(0))
    for k in range(1, lanes):
        product = a.arithmetic(operator.mul, base, x.lane(k), y.lane(k))
        total = a.arithmetic(operator.add, base, total, product)
    found = result_of(base, [total], (left, right))
    found.inexact = max(found.inexact, int(base == "f32"))  # whether it is contracted is not promised
    return found


def call_dot(values, node):
    return products(*values, node)


def call_length(values, node):
    return call_scalar("sqrt", [products(values[0], values[0], node)], node)


def call_normalize(values, node):
    return binary("/", values[0], call_length(values, node), node)


def call_cross(values, node):
    base = arithmetic_type(values, node)
    p, q = [v.converted(base).comps for v in values]
    def minor(i, j):
        return a.arithmetic(operator.sub, base, a.arithmetic(operator.mul, base, p[i], q[j]),
                            a.arithmetic(operator.mul, base, p[j], q[i]))
    found = result_of(base, [minor(1, 2), minor(2, 0), minor(0, 1)], values)
    found.inexact = max(found.inexact, int(base == "f32"))
    return found


def call_any(values, node):
    return result_of("bool", [a.apply(lambda *c: any(c), *values[0].comps)], values)


def call_all(values, node):
    return result_of("bool", [a.apply(lambda *c: all(c), *values[0].comps)], values)
