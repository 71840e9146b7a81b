"""Picture files for the tests: PGM, PPM, PFM, .npy and .cube, written and read with the standard library alone.

A picture is a list of planes (one per component), a plane a list of rows, a row a list of numbers.
"""
import ast
import struct


def write_picture(path, planes):
    """8-bit PGM or PPM, or PFM if the name ends so."""
    height, width = len(planes[0]), len(planes[0][0])
    if path.endswith(".pfm"):
        # PFM keeps its rows from bottom to top; a negative scale says little-endian.
        header = b"%s\n%d %d\n-1.0\n" % (b"Pf" if len(planes) == 1 else b"PF", width, height)
        rows = reversed(range(height))
        body = b"".join(struct.pack("<f", plane[y][x]) for y in rows for x in range(width) for plane in planes)
    else:
        header = b"%s\n%d %d\n255\n" % (b"P5" if len(planes) == 1 else b"P6", width, height)
        body = bytes(plane[y][x] for y in range(height) for x in range(width) for plane in planes)
    with open(path, "wb") as file:
        file.write(header + body)


def read_picture(path):
    with open(path, "rb") as file:
        data = file.read()
    fields, at = [], 0
    while len(fields) < 4:
        end = at
        while not data[end:end + 1].isspace():
            end += 1
        if end > at:
            fields.append(data[at:end])
        at = end + 1
    kind, width, height = fields[0], int(fields[1]), int(fields[2])
    components = 3 if kind in (b"P6", b"PF") else 1
    count = width * height * components
    if kind in (b"Pf", b"PF"):
        order = "<" if float(fields[3]) < 0 else ">"
        values = struct.unpack(f"{order}{count}f", data[at:at + 4 * count])
        line = list(reversed(range(height)))
    else:
        wide = int(fields[3]) > 255
        values = struct.unpack(f">{count}{'H' if wide else 'B'}", data[at:at + count * (2 if wide else 1)])
        line = list(range(height))
    return [[[values[(line[y] * width + x) * components + c] for x in range(width)] for y in range(height)]
            for c in range(components)]


def read_npy(path):
    """Shape as the file has it (slowest dimension first) and the flat values."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:6] == b"\x93NUMPY", path
    length = struct.unpack("<H", data[8:10])[0] if data[6] == 1 else struct.unpack("<I", data[8:12])[0]
    start = (10 if data[6] == 1 else 12) + length
    header = ast.literal_eval(data[start - length:start].decode("latin-1"))
    code = {"f4": "f", "f2": "e", "i4": "i", "u4": "I", "i2": "h", "u2": "H", "i1": "b", "u1": "B", "b1": "?"}
    letter = code[header["descr"][1:]]
    count = (len(data) - start) // struct.calcsize(letter)
    return header["shape"], struct.unpack(f"<{count}{letter}", data[start:])


def write_cube(path, size, colour):
    """A 3-D table; colour(r, g, b) with indices 0..size-1, red fastest."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f'TITLE "test"\nLUT_3D_SIZE {size}\n')
        for b in range(size):
            for g in range(size):
                for r in range(size):
                    file.write("%.6f %.6f %.6f\n" % colour(r, g, b))
