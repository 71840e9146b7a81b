"""Numbers: the scalar types, their rounding and wrapping, conversions, and lists of them.

A component is a Python int (integer types), bool (bool) or float (f16, f32; always a value of
that type). Operations take a number or a list per operand and give a list when any operand is one.
An f32 + - * / or sqrt is the double result rounded once more, which is exact; fma goes through
rounding to odd.
"""

import ctypes
import itertools
import math
import operator
import struct
from array import array

INTEGERS = {"u8": (0, 255), "i8": (-128, 127), "u16": (0, 65535), "i16": (-32768, 32767),
            "i32": (-2**31, 2**31 - 1), "u32": (0, 2**32 - 1)}
FLOATS = ("f16", "f32")
SCALARS = ("bool",) + tuple(INTEGERS) + FLOATS
SIGNED = ("i8", "i16", "i32")
WIDTH = {"bool": 1, "u8": 8, "i8": 8, "u16": 16, "i16": 16, "i32": 32, "u32": 32, "f16": 16, "f32": 32}
INFINITY = math.inf
NAN = math.nan
LARGEST_HALF = 65504.0


def f32(value):
    """A number rounded to single precision."""
    return ctypes.c_float(value).value


def f16(value):
    """A single-precision number rounded to half precision; too large becomes infinite."""
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(INFINITY, value)


def round_list(values):
    """A list rounded to single precision."""
    return array("f", values).tolist()


def wrap(value, base):
    """An integer modulo 2^32 in the type `base`."""
    value &= 0xFFFFFFFF
    return value - 0x100000000 if base == "i32" and value >= 0x80000000 else value


def is_list(value):
    return isinstance(value, list)


def apply(function, *operands):
    """`function` on numbers, or element by element where an operand is a list."""
    if not any(map(is_list, operands)):
        return function(*operands)
    return list(map(function, *[o if is_list(o) else itertools.repeat(o) for o in operands]))


def settle(result, base):
    """Brings the exact or double result of one operation back into the type `base`."""
    if base == "f32":
        return round_list(result) if is_list(result) else f32(result)
    if base in ("i32", "u32"):
        low, high = INTEGERS[base]
        if not is_list(result):
            return wrap(result, base)
        if result and (min(result) < low or max(result) > high):
            return [wrap(v, base) for v in result]
    return result


def arithmetic(function, base, *operands):
    """One operation whose operands are all of type `base`, with its result in that type."""
    return settle(apply(function, *operands), base)


# Single operations that Python would refuse

def divide(a, b):
    if b != 0:
        return a / b
    if a != a or a == 0 or b != b:
        return NAN
    return math.copysign(INFINITY, a) * math.copysign(1.0, b)


def floor(a):
    return float(math.floor(a)) if math.isfinite(a) and abs(a) < 2.0**52 else a


def ceil(a):
    return float(math.ceil(a)) if math.isfinite(a) and abs(a) < 2.0**52 else a


def trunc(a):
    return float(math.trunc(a)) if math.isfinite(a) and abs(a) < 2.0**52 else a


def round_even(a):
    return float(round(a)) if math.isfinite(a) and abs(a) < 2.0**52 else a


def square_root(a):
    return math.sqrt(a) if a >= 0 else NAN


def floor_divide(a, b):
    return 0 if b == 0 else a // b


def floor_remainder(a, b):
    return 0 if b == 0 else a % b


def fused(a, b, c):
    """a*b + c with one rounding to single precision."""
    product = a * b  # exact: 48 bits
    total = product + c
    if not math.isfinite(total):
        return f32(total)
    back = total - product
    error = (product - (total - back)) + (c - back)
    if error != 0 and not struct.unpack("<q", struct.pack("<d", total))[0] & 1:
        total = math.nextafter(total, INFINITY if error > 0 else -INFINITY)
    return f32(total)


def fma(a, b, c):
    """a*b + c, fused, on numbers and lists of f32."""
    if not (is_list(a) or is_list(b) or is_list(c)):
        return fused(a, b, c)
    product = apply(operator.mul, a, b)
    total = apply(operator.add, product, c)
    if not is_list(product):
        product = itertools.repeat(product)
    addend = c if is_list(c) else itertools.repeat(c)
    result = round_list(total)
    for i, (s, p, q) in enumerate(zip(total, product, addend)):
        if s - p != q or s - q != p:  # the double sum may be inexact, so a second rounding could hurt
            back = s - p
            error = (p - (s - back)) + (q - back)
            if error != 0 and math.isfinite(s) and not struct.unpack("<q", struct.pack("<d", s))[0] & 1:
                result[i] = f32(math.nextafter(s, INFINITY if error > 0 else -INFINITY))
    return result


# Conversions

def saturate(value, base):
    low, high = INTEGERS[base]
    return low if value < low else high if value > high else value


def float_to_integer(value, base):
    """Round half to even, saturate; NaN gives 0."""
    if value != value:
        return 0
    low, high = INTEGERS[base]
    if value <= low:
        return low
    return high if value >= high else round(value)


def converter(source, target):
    """The function that converts one component from `source` to `target`, or None if nothing happens."""
    if source == target:
        return None
    if target == "bool":
        return lambda v: v != 0
    if source == "bool":
        return float if target in FLOATS else int
    if source in FLOATS:
        if target == "f32":
            return None
        return f16 if target == "f16" else lambda v: float_to_integer(v, target)
    if target in FLOATS:
        return (lambda v: f32(float(v))) if target == "f32" else (lambda v: f16(float(v)))
    low, high = INTEGERS[target]
    if INTEGERS[source][0] >= low and INTEGERS[source][1] <= high:
        return None
    return lambda v: saturate(v, target)


def convert(values, source, target):
    """A component (a number or a list) converted from one type to another."""
    function = converter(source, target)
    if function is None:
        return values
    if target == "f32" and source != "bool" and is_list(values):
        return round_list(values)
    return apply(function, values)


def wrap_to(value, target):
    """Truncates, then takes the low bits of the result; NaN and infinities give 0."""
    if isinstance(value, float):
        value = math.trunc(value) if math.isfinite(value) else 0
    bits = WIDTH[target]
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if target in SIGNED and value >> (bits - 1) else value


# Types of results

def common(a, b):
    """The common type of two scalar types, without promotion; None where there is none."""
    if a == b:
        return a
    if a in FLOATS or b in FLOATS:
        return "f32"
    if a == "bool":
        return b
    if b == "bool":
        return a
    if "u32" in (a, b):
        return None if a in SIGNED or b in SIGNED else "u32"
    if a in SIGNED and b in SIGNED:
        return max(a, b, key=WIDTH.get)
    if a in SIGNED or b in SIGNED:
        return "i32"
    return max(a, b, key=WIDTH.get)


def promoted(base):
    """What arithmetic makes of a type."""
    if base in FLOATS:
        return "f32"
    return "u32" if base == "u32" else "i32"


def widens(source, target):
    """Whether a value of `source` becomes one of `target` without being asked: to a wider integer
    that holds every value, and any integer to f32."""
    if source == target:
        return True
    if source not in INTEGERS:
        return False
    if target == "f32":
        return True
    return (target in INTEGERS and INTEGERS[target][0] <= INTEGERS[source][0]
            and INTEGERS[target][1] >= INTEGERS[source][1])


def lowest(base):
    """The identity of max."""
    return -INFINITY if base in FLOATS else False if base == "bool" else INTEGERS[base][0]


def highest(base):
    """The identity of min."""
    return INFINITY if base in FLOATS else True if base == "bool" else INTEGERS[base][1]
