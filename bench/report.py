"""What the bench prints: a row of figures for each measurement, means over all, and the rows that fall short."""

import math

HEADER = ('workload          size       threads  halo ms  halide  opencv   plain  /halide /opencv  /plain  roofline bound '
          'compile ms  code kB')
SHARES = {'memory': 0.70, 'arithmetic': 0.60}
COMPILE_MS, CODE_BYTES = 100, 200e3


def row_of(one, width, height, threads, found, limit, costs):
    by_name = {c['name']: c for c in found}
    halo, plain = by_name['halo'], by_name['plain']
    halides = [c for c in found if c['name'].startswith('halide')]
    counted = [c for c in halides if c['agrees'] and 'ms' in c]
    halide = min(counted, key=lambda c: c['ratio'], default=None)
    opencv = by_name.get('opencv')
    if opencv and not (opencv['agrees'] and 'ms' in opencv):
        opencv = None
    bytes_ms = one.bytes(width, height) / limit['copy'] * 1e-6
    operations_ms = one.operations(width, height) / limit['fma'] * 1e-6
    halo_ms = halo.get('ms')
    return {
        'name': one.name, 'width': width, 'height': height, 'threads': threads,
        'halo_ms': halo_ms,
        'halide_ms': halide and halide['ms'], 'opencv_ms': opencv and opencv['ms'], 'plain_ms': plain.get('ms'),
        'roofline_share': halo_ms and max(bytes_ms, operations_ms) / halo_ms,
        'compile_ms': costs[0], 'code_bytes': costs[1],
        'agrees': all(c['agrees'] for c in found),
        'bound': 'memory' if bytes_ms >= operations_ms else 'arithmetic',
        'halide_ratio': halide and halide['ratio'], 'opencv_ratio': opencv and opencv['ratio'],
        'plain_ratio': plain.get('ratio'),
        'halide_schedule': halide and halide['name'].removeprefix('halide_'),
        'halide_schedules': {c['name'].removeprefix('halide_'): c.get('ms') for c in halides},
        'halo_minimum_ms': halo.get('minimum'),
        'disagreements': [c for c in found if not c['agrees']],
    }


def number(value, digits, width):
    return f'{"-" if value is None else f"{value:.{digits}f}":>{width}}'


def milliseconds(value, width):
    return number(value, 3 if value is not None and value < 10 else 1, width)


def line_of(row):
    size = f'{row["width"]}x{row["height"]}'
    text = (f'{row["name"]:<17} {size:<10} {row["threads"]:>7} {milliseconds(row["halo_ms"], 8)} '
            f'{milliseconds(row["halide_ms"], 7)} {milliseconds(row["opencv_ms"], 7)} {milliseconds(row["plain_ms"], 7)} '
            f'{number(row["halide_ratio"], 2, 8)} {number(row["opencv_ratio"], 2, 7)} {number(row["plain_ratio"], 2, 7)} '
            f'{number(row["roofline_share"] and 100 * row["roofline_share"], 0, 7)} % {row["bound"][:6]:<6} '
            f'{row["compile_ms"]:>9.1f} {row["code_bytes"] / 1e3:>8.1f}')
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
    if share is not None and share < least:
        found.append(f'{100 * share:.0f} % of the {row["bound"]} roofline')
    if row['compile_ms'] > COMPILE_MS:
        found.append(f'compiles in {row["compile_ms"]:.0f} ms')
    if row['code_bytes'] > CODE_BYTES:
        found.append(f'{row["code_bytes"] / 1e3:.0f} kB of code')
    return found


def summary(rows):
    lines = ['']
    for threads in sorted({row['threads'] for row in rows}):
        for peer in ('halide', 'opencv', 'plain'):
            ratios = [row[f'{peer}_ratio'] for row in rows if row['threads'] == threads and row[f'{peer}_ratio']]
            if ratios:
                lines.append(f'{threads} threads, {peer}: geometric mean {mean_of(ratios):.2f} of {len(ratios)} rows, least '
                             f'{min(ratios):.2f}')
    short = [(row, misses(row)) for row in rows]
    if any(found for _, found in short):
        lines.append('short:')
    for row, found in short:
        if found:
            lines.append(f'  {row["name"]} {row["width"]}x{row["height"]} {row["threads"]}: {", ".join(found)}')
    return '\n'.join(lines)
