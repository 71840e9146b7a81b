"""The bench on a Vulkan device: one dispatch with bulk and border regions beside clamps everywhere, and beside one dispatch a stage."""

import json
import os
import subprocess

import contenders
import report

SIZE = (512, 512)      # a device of processors takes a hundred times as long as the processor itself
HEADER = ('workload           size       dispatches   regions  clamps  stages   words: regions clamps stages   '
          'pipelines ms: r   c   s   first run ms: r    c    s')


def measured(one, width, height, device, quick):
    """Runs the measuring program; what it found, or Failed with the reason."""
    seconds, fewest = (0.5, 3) if quick else (3, 7)
    pictures = [one.pictures[i].word(width, height).replace(':planar:', ':interleaved:') for i in one.halo_inputs + one.halo_outputs]
    command = [contenders.vulkan(), device or '', one.script, one.pipe, seconds, fewest, *pictures]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                          env={**os.environ, 'MESA_SHADER_CACHE_DISABLE': '1'})
    if done.returncode != 0:
        raise contenders.Failed(f'status {done.returncode}: {done.stderr.strip() or "nothing was said"}')
    return json.loads(done.stdout)


def row_of(name, width, height, found):
    """A row of the table, and a line of the JSON: per way, its figures."""
    row = {'name': name, 'width': width, 'height': height, 'on': 'vulkan', 'device': found['device'], 'rounds': found['rounds'],
           'agrees': all(way['agrees'] for way in found['ways']), 'ways': {}}
    for way in found['ways']:
        kernels = way.pop('about')['kernels']
        way['dispatches'] = sum(not kernel['table'] for kernel in kernels)
        way['spirv_words'] = sum(kernel['spirv_words'] for kernel in kernels)
        row['ways'][way.pop('name')] = way
    return row


def line_of(row):
    ways = row['ways']
    regions, clamps, stages = (ways[name] for name in ('regions', 'clamps', 'stages'))
    size = f'{row["width"]}x{row["height"]}'
    text = (f'{row["name"]:<18} {size:<10} {regions["dispatches"]:>4} / {stages["dispatches"]:<3} '
            f'{report.milliseconds(regions["ms"], 9)} ms {clamps["ratio"]:>6.2f} {stages["ratio"]:>7.2f}   '
            + ''.join(f'{way["spirv_words"]:>8}' for way in (regions, clamps, stages)) + '     '
            + ''.join(f'{way["pipelines_ms"]:>7.1f}' for way in (regions, clamps, stages)) + '  '
            + ''.join(f'{way["first_ms"]:>8.0f}' for way in (regions, clamps, stages)))
    wrong = [name for name, way in ways.items() if not way['agrees']]
    return text + (f'\n  other bits than the processor: {", ".join(wrong)}' if wrong else '')


def summary(rows):
    lines = ['']
    for name, what in (('clamps', 'clamps everywhere'), ('stages', 'one dispatch a stage')):
        differ = [row['ways'][name]['ratio'] for row in rows if row['ways'][name]['spirv_words'] != row['ways']['regions']['spirv_words']]
        if differ:
            lines.append(f'times of {what} over regions: geometric mean {report.mean_of(differ):.2f} of {len(differ)} rows where code differs, '
                         f'{min(differ):.2f} to {max(differ):.2f}')
    return '\n'.join(lines)
