"""Rows beside the workloads on large pictures: small pictures, where starting counts, and border modes, which have to cost
next to nothing beside the same filter on a picture that was padded before."""

import json

import contenders
import workload

TINY = ('gauss5_u8x3', 'unsharp_f32', 'sobel_u8')
BORDERS = {'edge': 'edge', 'reflect': 'reflect', 'reflect101': 'reflect101', 'constant': 'constant(40)', 'wrap': 'wrap'}
BORDER_SIZE = [(3840, 2160)]

SCRIPT = '''pipe {name}(src: image u8x3) -> image u8x3
{{
    k = [[1,  4,  6,  4, 1],
         [4, 16, 24, 16, 4],
         [6, 24, 36, 24, 6],
         [4, 16, 24, 16, 4],
         [1,  4,  6,  4, 1]] / 256
    return u8(conv({picture}, k))
}}
'''
PADDED = 'border_padded'
PICTURES = {
    'inputs': [{'name': 'src', 'type': 'u8', 'components': 3, 'extent': ['W', 'H'], 'values': 'photo'},
               {'name': 'padded', 'type': 'u8', 'components': 3, 'extent': ['W + 4', 'H + 4'], 'values': 'photo'}],
    'outputs': [{'name': 'out', 'type': 'u8', 'components': 3, 'extent': ['W', 'H']}],
    'operations_per_pixel': 42,
}


class Row:
    """One name of the table: a workload, its sizes (None: those of the command line), and what else is timed beside it."""
    def __init__(self, name, one, sizes=None, padded=None):
        self.name, self.workload, self.sizes, self.padded = name, one, sizes, padded


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def border_workload(name, picture, inputs):
    """A workload whose files are made here. Its pictures are the source, the padded source and the output."""
    folder = contenders.OUT / 'borders' / name
    write(folder / f'{name}.pipe', SCRIPT.format(name=name, picture=picture))
    write(folder / 'workload.json', json.dumps(PICTURES))
    write(folder / 'plain.c', f'#define BORDER_{name.removeprefix("border_")} 1\n#include "bench/plain_border.h"\n')
    one = workload.Workload(folder)
    one.halo_inputs, one.halo_outputs = inputs, [2]
    return one


def names():
    return ['tiny64'] + [f'border_{mode}' for mode in BORDERS]


def rows(name):
    if name == 'tiny64':
        return [Row(f'tiny64_{of}', workload.load(of), [(64, 64)]) for of in TINY]
    picture = BORDERS[name.removeprefix('border_')]
    one = border_workload(name, f'pad(src, {picture})', [0])
    return [Row(name, one, BORDER_SIZE, border_workload(PADDED, 'src', [1]))]
