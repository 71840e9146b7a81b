"""Operations on whole images: pads, kernels, convolution, crops and joins."""

import operator

from . import arithmetic as a
from .errors import PipeError
from .operators import doubt
from .values import (Border, Image, Type, Value, as_field, as_image, common_type, coordinates_of, count_of,
                     intersection, lanes_of)


def base_of(image):
    """A stand-in value for an image's type, for the rules about types."""
    return Value(image.type, [[]])


# Pads

def pad(image, borders, supplied):
    """The image with a border per axis; `supplied` are values that borders give, whose type joins."""
    values = [base_of(image)] + [v for v in supplied]
    base = common_type(values, None)
    joined = image.converted(base)
    lanes = lanes_of(values, None)
    planes = joined.planes * lanes if len(joined.planes) < lanes else joined.planes
    return Image(image.domain, Type(base, lanes), planes, borders, image.const, image.inexact)


def constant_border(value, base, lanes):
    """A border that supplies one value everywhere."""
    converted = value.converted(base)
    return Border(supply=lambda points: [converted.lane(k) for k in range(lanes)])


def enlarge(image, sides):
    """A padded image over a larger rectangle; sides are (before, after) per dimension."""
    domain = [(start - before, max(0, extent + before + after))
              for (start, extent), (before, after) in zip(image.domain, sides)]
    return Image(domain, image.type, image.fetch(coordinates_of(domain)), const=image.const,
                 inexact=image.inexact)


# Moving and joining

def origin(image):
    if any(b and b.supply for b in image.borders):
        moved = [b and Border(b.axis_map, b.supply and shifted(b.supply, image.domain)) for b in image.borders]
    else:
        moved = image.borders
    return image.bare(domain=[(0, e) for _, e in image.domain], borders=moved)


def shifted(supply, domain):
    starts = [s for s, _ in domain]
    return lambda points: supply([[i + s for i in column] for column, s in zip(points, starts)])


def crop(image, x, y, width, height, node):
    if width < 0 or height < 0:
        raise PipeError(f"a crop of {width} by {height}", node, "size")
    domain = [(x, width), (y, height)]
    planes = image.fetch(coordinates_of(domain), node)
    return Image([(0, width), (0, height)], image.type, planes, const=image.const, inexact=image.inexact)


def joined_planes(images, node):
    """Two images in their common type, with equal numbers of components."""
    base = common_type([base_of(i) for i in images], node)
    lanes = lanes_of([base_of(i) for i in images], node)
    converted = [i.converted(base) for i in images]
    planes = [i.planes * lanes if len(i.planes) < lanes else i.planes for i in converted]
    return Type(base, lanes), planes


def paste(below, above, x, y, node):
    """`above` over `below` with its first pixel at (x, y); what lies outside is cut off."""
    type, (bottom, top) = joined_planes((below, above), node)
    (_, width), (_, height) = below.domain
    (_, inner_width), (_, inner_height) = above.domain
    planes = [list(p) for p in bottom]
    for row in range(max(0, -y), min(inner_height, height - y)):
        for column in range(max(0, -x), min(inner_width, width - x)):
            for plane, source in zip(planes, top):
                plane[(y + row) * width + x + column] = source[row * inner_width + column]
    return Image([(0, width), (0, height)], type, planes, const=below.const and above.const,
                 inexact=max(below.inexact, above.inexact))


def concat(first, second, axis, node):
    if first.rank != second.rank or not 0 <= axis < first.rank:
        raise PipeError(f"concat along axis {axis} of images of rank {first.rank} and {second.rank}", node)
    for k, ((_, e), (_, f)) in enumerate(zip(first.domain, second.domain)):
        if k != axis and e != f:
            raise PipeError(f"concat: extents {e} and {f} differ on axis {k}", node, "size")
    type, (left, right) = joined_planes((first, second), node)
    run = count_of(first.domain[:axis])
    a_run, b_run = run * first.domain[axis][1], run * second.domain[axis][1]
    planes = []
    for p, q in zip(left, right):
        plane = []
        for block in range(count_of(first.domain[axis + 1:])):
            plane += p[block * a_run:(block + 1) * a_run] + q[block * b_run:(block + 1) * b_run]
        planes.append(plane)
    domain = [(0, e) for _, e in first.domain]
    domain[axis] = (0, first.domain[axis][1] + second.domain[axis][1])
    return Image(domain, type, planes, const=first.const and second.const,
                 inexact=max(first.inexact, second.inexact))


# Kernels

def kernel_literal(rows, type, planes, const, inexact, rank):
    height, width = len(rows), len(rows[0])
    domain = [(-(width // 2), width), (-(height // 2), height)] if rank == 2 else [(0, width)]
    return Image(domain, type, planes, const=const, inexact=inexact)


def flip(kernel):
    domain = [(-(start + extent - 1), extent) for start, extent in kernel.domain]
    return kernel.bare(domain=domain, planes=[p[::-1] for p in kernel.planes])


def anchor(kernel, i, j, node):
    (_, width), (_, height) = kernel.domain
    if not (0 <= i < width and 0 <= j < height):
        raise PipeError(f"anchor ({i}, {j}) must name a tap: 0..{width - 1}, 0..{height - 1}", node)
    return kernel.bare(domain=[(-i, width), (-j, height)])


def has_rank_one(kernel):
    """Whether a kernel could be split into a column and a row (generously, in doubles)."""
    (_, width), (_, height) = kernel.domain
    if width < 2 or height < 2:
        return False
    for plane in kernel.planes:
        pivot = max(range(len(plane)), key=lambda k: abs(plane[k]))
        if not plane[pivot]:
            continue
        row, column = pivot // width, pivot % width
        for k, value in enumerate(plane):
            expected = plane[row * width + k % width] * plane[k // width * width + column] / plane[pivot]
            if abs(expected - value) > 1e-5 * abs(plane[pivot]):
                return False
    return True


def equal_taps(kernel):
    return any(len(p) > 8 and len(set(p)) == 1 for p in kernel.planes)


def conv(image, kernel, stride, dilation, splits, fuses, node):
    """Correlation, component by component; taps row by row, the first a plain product, then one multiply-add per
    tap, fused or not; where kernels may be split in two, the rounding of those that can be isn't known."""
    if image.rank != 2 or kernel.rank != 2:
        raise PipeError("conv wants images of two dimensions", node)
    if min(stride) < 1 or min(dilation) < 1:
        raise PipeError("stride and dilation are at least 1", node)
    base = a.common(a.promoted(image.type.base), a.promoted(kernel.type.base))
    if base is None:
        raise PipeError("u32 and a signed type are combined: write i32(...) or u32(...)", node)
    lanes = lanes_of((base_of(image), base_of(kernel)), node)
    domain = conv_domain(image, kernel, stride, dilation)
    points = coordinates_of(domain)
    weights = kernel.converted(base)
    totals = [None] * lanes
    (left, width), (top, height) = kernel.domain
    for tap in range(width * height):
        taps = [weights.planes[k if weights.type.lanes > 1 else 0][tap] for k in range(lanes)]
        if kernel.const and not any(taps):
            continue
        i, j = left + tap % width, top + tap // width
        columns = [stride[0] * x + dilation[0] * i for x in points[0]]
        rows = [stride[1] * y + dilation[1] * j for y in points[1]]
        pixels = [a.convert(p, image.type.base, base) for p in image.fetch([columns, rows], node)]
        for k, weight in enumerate(taps):
            pixel = pixels[k if len(pixels) > 1 else 0]
            totals[k] = accumulate(totals[k], pixel, weight, base, fuses)
    zero = 0.0 if base == "f32" else 0
    planes = [t if t is not None else [zero] * count_of(domain) for t in totals]
    split = base == "f32" and splits and (has_rank_one(kernel) or equal_taps(kernel))
    return Image(domain, Type(base, lanes), planes, const=image.const and kernel.const,
                 inexact=max(doubt((image, kernel)), int(split)))


def accumulate(total, pixel, weight, base, fuses):
    if total is None:
        return a.arithmetic(operator.mul, base, pixel, weight)
    if base == "f32" and fuses:
        return a.fma(pixel, weight, total)
    return a.arithmetic(operator.add, base, total, a.arithmetic(operator.mul, base, pixel, weight))


def conv_domain(image, kernel, stride, dilation):
    """Where conv(a, k)[stride * x] exists."""
    domain = []
    for axis in range(2):
        (start, extent), (first, taps) = image.domain[axis], kernel.domain[axis]
        low, high = start, start + extent - 1
        if image.borders[axis] is None and taps:
            low -= dilation[axis] * first
            high -= dilation[axis] * (first + taps - 1)
        low, high = -(-low // stride[axis]), high // stride[axis]
        domain.append((low, max(0, high - low + 1)))
    return domain


def lift(function, operands, node):
    """Calls `function` on values; images among the operands make it work pixel by pixel over the
    intersection of their domains."""
    images = [o for o in operands if isinstance(o, Image)]
    if not images:
        return function(*operands)
    if any(isinstance(o, Value) and not o.uniform for o in operands):
        raise PipeError("an image beside a value that depends on coordinates: give the image an index", node)
    domain = intersection([i.domain for i in images], node)
    values = [as_field(o, domain) if isinstance(o, Image) else o for o in operands]
    return as_image(function(*values), domain)

