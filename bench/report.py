"""What the bench prints: a row of figures for each measurement, means over all, and the rows that fall short."""

import math

HEADER = ('workload           size       threads  halo ms  halide  opencv   plain  /halide /opencv  /plain  roofline bound '
          'compile ms  code kB')
SHARES = {'memory': 0.70, 'arithmetic': 0.60}
COMPILE_MS, CODE_BYTES = 100, 200e3
SMALL, START_US = 64 * 64, 20   # pixels of a small picture; what a dispatch may take there over the arithmetic
BORDER = 1.10


def peer_of(found, name):
    """The fastest of the contenders of one peer that agree."""
    counted = [c for c in found if c['name'].startswith(name) and c['agrees'] and 'ms' in c]
    return min(counted, key=lambda c: c['ratio'], default={})


def row_of(row, width, height, threads, found, limit, costs):
    """A row of the table, and a line of the JSON."""
    one = row.workload
    halo, plain, padded = (next((c for c in found if c['name'] == name), {}) for name in ('halo', 'plain', 'padded'))
    halide, opencv = peer_of(found, 'halide'), peer_of(found, 'opencv')
    bytes_ms = one.bytes(width, height) / limit['copy'] * 1e-6
    operations_ms = one.operations(width, height) / limit['fma'] * 1e-6
    halo_ms = halo.get('ms')
    return {
        'name': row.name, 'width': width, 'height': height, 'threads': threads,
        'halo_ms': halo_ms, 'halide_ms': halide.get('ms'), 'opencv_ms': opencv.get('ms'), 'plain_ms': plain.get('ms'),
        'roofline_share': halo_ms and max(bytes_ms, operations_ms) / halo_ms,
        **costs,
        'agrees': all(c['agrees'] for c in found if c['code'] == 0 or c['name'] == 'halo'),
        'bound': 'memory' if bytes_ms >= operations_ms else 'arithmetic',
        'halide_ratio': halide.get('ratio'), 'opencv_ratio': opencv.get('ratio'), 'plain_ratio': plain.get('ratio'),
        'padded_ratio': padded.get('ratio'),
        'halide_schedule': halide.get('name', '').removeprefix('halide_') or None,
        'halide_schedules': {c['name'].removeprefix('halide_'): c.get('ms') for c in found if c['name'].startswith('halide')},
        'minimum_ms': {c['name']: c['minimum'] for c in found if 'minimum' in c},
        'start_us': halo_ms and (halo_ms - max(bytes_ms, operations_ms)) * 1e3 / costs['dispatches'],
        'disagreements': [c for c in found if not c['agrees']],
    }


def number(value, digits, width):
    return f'{"-" if value is None else f"{value:.{digits}f}":>{width}}'


def milliseconds(value, width):
    return number(value, 1 if value is None or value >= 10 else 3 if value >= 0.1 else 4, width)


def line_of(row):
    size = f'{row["width"]}x{row["height"]}'
    text = (f'{row["name"]:<18} {size:<10} {row["threads"]:>7} {milliseconds(row["halo_ms"], 8)} '
            f'{milliseconds(row["halide_ms"], 7)} {milliseconds(row["opencv_ms"], 7)} {milliseconds(row["plain_ms"], 7)} '
            f'{number(row["halide_ratio"], 2, 8)} {number(row["opencv_ratio"], 2, 7)} {number(row["plain_ratio"], 2, 7)} '
            f'{number(row["roofline_share"] and 100 * row["roofline_share"], 0, 7)} % {row["bound"][:6]:<6} '
            f'{row["compile_ms"]:>9.1f} {row["code_bytes"] / 1e3:>8.1f}')
    if row['padded_ratio'] is not None:
        text += f'   {1 / row["padded_ratio"]:.2f} times the time on a padded picture'
    for c in row['disagreements']:
        text += '\n  ' + disagreement(c)
    return text


def schedules(row):
    """Halide's times by schedule."""
    return ', '.join(f'{name} {milliseconds(ms, 0)}' for name, ms in row['halide_schedules'].items())


def disagreement(c):
    if c['code'] != 0:
        return f'{c["name"]} failed with code {c["code"]}'
    if not c['guards_hold']:
        return f'{c["name"]} wrote outside its picture'
    x, y, component = c['at']
    return (f'{c["name"]} disagrees at {c["beyond"]} values, by {c["worst"]:.3g} at x {x} y {y} component {component}: '
            f'{c["value"]:.7g}, right is {c["right"]:.7g}')


def mean_of(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def misses(row):
    found = []
    if not row['agrees']:
        found.append('disagrees')
    for peer in ('halide', 'opencv'):
        ratio = row[f'{peer}_ratio']
        if ratio is not None and ratio < 1:
            found.append(f'{ratio:.2f} of {peer}')
    share, least = row['roofline_share'], SHARES[row['bound']]
    if row['width'] * row['height'] <= SMALL:
        if row['start_us'] is not None and row['start_us'] > START_US:
            found.append(f'{row["start_us"]:.0f} microseconds per dispatch')
    elif share is not None and share < least:
        found.append(f'{100 * share:.0f} % of the {row["bound"]} roofline')
    if row['padded_ratio'] is not None and 1 / row['padded_ratio'] > BORDER:
        found.append(f'{1 / row["padded_ratio"]:.2f} times the time on a padded picture')
    if row['compile_ms'] > COMPILE_MS:
        found.append(f'compiles in {row["compile_ms"]:.0f} ms')
    if row['code_bytes'] > CODE_BYTES:
        found.append(f'{row["code_bytes"] / 1e3:.0f} kB of code')
    return found


def means(rows):
    """Of the workloads on large pictures; the small ones and the borders speak for themselves."""
    lines = []
    large = [row for row in rows if row['width'] * row['height'] > SMALL and row['padded_ratio'] is None]
    for threads in sorted({row['threads'] for row in large}):
        for peer in ('halide', 'opencv', 'plain'):
            ratios = [row[f'{peer}_ratio'] for row in large if row['threads'] == threads and row[f'{peer}_ratio']]
            if ratios:
                lines.append(f'{threads} thread{"s" if threads > 1 else ""}, times of {peer} over Halo\'s: geometric mean '
                             f'{mean_of(ratios):.2f} of {len(ratios)} rows, least {min(ratios):.2f}')
    return lines


def summary(rows):
    lines = ['', *means(rows)]
    short = [(row, misses(row)) for row in rows]
    if any(found for _, found in short):
        lines.append('what falls short:')
    for row, found in short:
        if found:
            lines.append(f'  {row["name"]} {row["width"]}x{row["height"]} {row["threads"]}: {", ".join(found)}')
    return '\n'.join(lines)
