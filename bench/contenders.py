"""Makes a workload's contenders: shared objects that all have the same face, so that the measuring program needs to know
nothing about who is behind it. Each is remade only when what it is made of has changed."""

import hashlib
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / 'bench'
OUT = ROOT / 'build' / 'bench'
HALO = ROOT / 'build' / 'halo'

C_FLAGS = ['-O3', '-march=native', '-ffp-contract=off', '-fopenmp', '-fPIC', '-Werror=implicit-function-declaration', '-I', str(ROOT)]
COMPILE_TRIES = 3


class Failed(Exception):
    """A contender could not be made; the message says why."""


def run(command, seconds=600):
    """Runs a command; what it said is in the exception if it failed."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f'{pathlib.Path(str(command[0])).name} took more than {seconds} s') from None
    if done.returncode != 0:
        said = '\n'.join(done.stdout.strip().splitlines()[-12:])
        raise Failed(f'{shlex.join(str(word) for word in command)}\n{said}')
    return done.stdout


def stamp_of(sources, *words):
    """What a made file depends on: the contents of files, and command lines."""
    h = hashlib.sha256()
    for source in sources:
        h.update(pathlib.Path(source).read_bytes())
    for word in words:
        h.update(str(word).encode())
    return h.hexdigest()


def remade(target, stamp, make):
    """Calls make unless target was made from the same things before."""
    note = target.with_name(target.name + '.stamp')
    if target.exists() and note.exists() and note.read_text() == stamp:
        return target
    note.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    make()
    note.write_text(stamp)
    return target


def link(target, parts, *flags):
    run(['g++', '-shared', '-o', target, *parts, *flags])


# --- The measuring program ---

def measure():
    sources = [BENCH / f'{part}.c' for part in ('measure', 'pictures', 'pool', 'machine')]
    target = OUT / 'measure'
    command = ['gcc', '-std=c17', '-O2', '-march=native', '-mprefer-vector-width=512', '-fopenmp', '-Wall', '-Wextra', '-I',
               ROOT, *sources, '-o', target, '-lm', '-ldl', '-lpthread']
    return remade(target, stamp_of(sources + [BENCH / 'measure.h'], command), lambda: run(command))


# --- Plain C ---

def shared_headers():
    return sorted(BENCH.glob('plain*.h')) + [ROOT / 'runtime/include/halo/abi.h']


def plain(workload):
    target = OUT / workload.name / 'plain.so'
    sources = [workload.file('plain.c'), BENCH / 'adapters/plain.c']
    command = ['gcc', *C_FLAGS, *workload.defines, '-shared', '-o', target, *sources, '-lm']
    return remade(target, stamp_of(sources + shared_headers(), command), lambda: run(command))


# --- Halo ---

def halo_object(workload):
    """The command that compiles the script, as an application's build would, for this processor."""
    folder = OUT / workload.name
    layouts = [word for p in workload.pictures if p.planar for word in ('--layout', f'{p.name}=planar')]
    return [HALO, 'build', workload.script, '--pipe', workload.pipe, '--cpu', 'native', *layouts, '-o', folder / 'halo.o']


def halo_adapter(workload, header):
    """C that calls the generated entry with the pictures in its order and its parameters' defaults."""
    words = [f'&images[{i}]' for i in workload.halo_inputs]
    if re.search(rf'\b{workload.pipe}_defaults\b', header):
        words.append(f'&{workload.pipe}_defaults')
    words += [f'&images[{i}]' for i in workload.halo_outputs]
    return (f'#include "halo_generated.h"\n'
            f'void contender_prepare(int threads) {{ (void)threads; }}\n'
            f'int contender_run(const halo_image *images, const halo_exec *exec)\n'
            f'{{\n    return {workload.pipe}({", ".join(words)}, exec);\n}}\n')


def halo(workload):
    folder = OUT / workload.name
    target, header = folder / 'halo.so', folder / 'halo_generated.h'
    command = halo_object(workload)

    def make():
        run([*command, '--header', header])
        adapter = folder / 'halo_adapter.c'
        adapter.write_text(halo_adapter(workload, header.read_text()))
        run(['gcc', '-O2', '-fPIC', '-c', adapter, '-o', folder / 'halo_adapter.o'])
        link(target, [folder / 'halo_adapter.o', folder / 'halo.o'])

    return remade(target, stamp_of([workload.script, HALO], command, workload.halo_inputs, workload.halo_outputs), make)


def used_time(command):
    """Seconds of processor time of a command, the least of some."""
    best = None
    for _ in range(COMPILE_TRIES):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = usage.ru_utime + usage.ru_stime
        best = took if best is None else min(best, took)
    return best


_start_time = None


def compile_ms(workload):
    """Processor time of compiling, without what it takes to start the command and load LLVM."""
    global _start_time
    if _start_time is None:
        _start_time = used_time([HALO, '--help'])
    command = halo_object(workload)
    return max(0, used_time([*command[:-1], OUT / workload.name / 'timed.o']) - _start_time) * 1e3


def code_bytes(workload):
    """Code and constants of the object that a program links."""
    text = run(['size', '-A', OUT / workload.name / 'halo.o'])
    return sum(int(line.split()[1]) for line in text.splitlines()
               if line.startswith(('.text', '.rodata', '.data.rel.ro')))
