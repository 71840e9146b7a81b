"""Pictures and arrays in files: .npy of any type, PGM, PPM and PFM."""

import ast
import struct
import sys
from array import array

from .arithmetic import f32
from .errors import PipeError
from .values import Image, Type

CODES = {"bool": "|b1", "u8": "|u1", "i8": "|i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4",
         "f16": "<f2", "f32": "<f4"}
LETTERS = {"bool": "B", "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f"}
assert sys.byteorder == "little" and array("I").itemsize == 4


def pack(base, numbers):
    if base == "f16":
        return struct.pack(f"<{len(numbers)}e", *numbers)
    return array(LETTERS[base], numbers).tobytes()


def unpack(base, data):
    if base == "f16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    numbers = array(LETTERS[base])
    numbers.frombytes(data)
    return [v != 0 for v in numbers] if base == "bool" else numbers.tolist()


def write_npy(path, image):
    """Axes reversed (y before x), components last."""
    shape = [extent for _, extent in reversed(image.domain)]
    if image.type.lanes > 1:
        shape.append(image.type.lanes)
    flat = image.planes[0] if image.type.lanes == 1 else [v for pixel in zip(*image.planes) for v in pixel]
    words = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{CODES[image.type.base]}', 'fortran_order': False, 'shape': ({words}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(pack(image.type.base, flat))


def read_npy_raw(path):
    """(scalar type, shape as in the file, flat list)."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY":
        raise PipeError(f"{path} is no .npy file")
    size, start = (struct.unpack_from("<H", data, 8)[0], 10) if data[6] == 1 else \
                  (struct.unpack_from("<I", data, 8)[0], 12)
    header = ast.literal_eval(data[start:start + size].decode())
    base = {code[-2:]: base for base, code in CODES.items()}.get(header["descr"][-2:])
    if base is None or header["fortran_order"] or header["descr"][0] == ">":
        raise PipeError(f"{path}: the layout {header} is not read")
    return base, header["shape"], unpack(base, data[start + size:])


def read_npy(path, rank=None):
    """An image of `rank` dimensions; one more axis in the file is the component."""
    base, shape, flat = read_npy_raw(path)
    rank = rank or min(len(shape), 2)
    lanes = shape[rank] if len(shape) == rank + 1 else 1
    planes = [flat[k::lanes] for k in range(lanes)]
    return Image([(0, e) for e in reversed(shape[:rank])], Type(base, lanes), planes)


def read_netpbm(path):
    """PGM and PPM of 8 or 16 bits, PFM."""
    with open(path, "rb") as file:
        data = file.read()
    words, position = [], 0
    while len(words) < 4:
        end = position
        while data[end:end + 1].isspace():
            end += 1
        if data[end:end + 1] == b"#":
            position = data.index(b"\n", end)
            continue
        position = end
        while not data[position:position + 1].isspace():
            position += 1
        words.append(data[end:position].decode())
    body = data[position + 1:]
    width, height = int(words[1]), int(words[2])
    lanes = 3 if words[0] in ("P6", "PF") else 1
    if words[0] in ("P5", "P6"):
        base = "u8" if int(words[3]) < 256 else "u16"
        flat = list(body) if base == "u8" else list(struct.unpack(f">{len(body) // 2}H", body))
    elif words[0] in ("Pf", "PF"):
        base = "f32"
        flat = list(struct.unpack(f"{'<' if float(words[3]) < 0 else '>'}{len(body) // 4}f", body))
        row = width * lanes
        flat = [v for y in reversed(range(height)) for v in flat[y * row:(y + 1) * row]]
    else:
        raise PipeError(f"{path}: {words[0]} is not read")
    return Image([(0, width), (0, height)], Type(base, lanes), [flat[k::lanes] for k in range(lanes)])


def write_netpbm(path, image):
    (_, width), (_, height) = image.domain
    flat = [v for pixel in zip(*image.planes) for v in pixel]
    colour = image.type.lanes == 3
    with open(path, "wb") as file:
        if image.type.base == "f32":
            row = width * image.type.lanes
            lines = [v for y in reversed(range(height)) for v in flat[y * row:(y + 1) * row]]
            file.write(f"{'PF' if colour else 'Pf'}\n{width} {height}\n-1.0\n".encode())
            file.write(struct.pack(f"<{len(lines)}f", *lines))
        else:
            deep = image.type.base == "u16"
            file.write(f"{'P6' if colour else 'P5'}\n{width} {height}\n{65535 if deep else 255}\n".encode())
            file.write(struct.pack(f">{len(flat)}H", *flat) if deep else bytes(flat))


def read_cube(path):
    """A colour table of N x N x N pixels, red fastest."""
    size, rows = 0, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "LUT_3D_SIZE":
                size = int(words[1])
            elif words and words[0][0] in "+-.0123456789":
                rows.append([f32(float(w)) for w in words])
    return Image([(0, size)] * 3, Type("f32", 3), [list(plane) for plane in zip(*rows)])


def read(path, rank=None):
    if path.endswith(".cube"):
        return read_cube(path)
    return read_npy(path, rank) if path.endswith(".npy") else read_netpbm(path)


def write(path, image):
    (write_npy if path.endswith(".npy") else write_netpbm)(path, image)
