"""Makes a workload's contenders: shared objects that all have the same face, so that the measuring program needs to know
nothing about who is behind it. Each is remade only when what it is made of has changed."""

import collections
import hashlib
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / 'bench'
OUT = ROOT / 'build' / 'bench'
HALO = ROOT / 'build' / 'halo'

C_FLAGS = ['-O3', '-march=native', '-ffp-contract=off', '-fopenmp', '-fPIC', '-Werror=implicit-function-declaration', '-I',
           str(ROOT)]
COMPILE_TRIES = 3

HALIDE_INCLUDES = ['-I/usr/include/halide14']
HALIDE_MAIN = pathlib.Path('/usr/src/halide14/GenGen.cpp')
HALIDE_HEADER = '/usr/include/halide14/Halide.h'
HALIDE_FLAGS = ['-std=c++17', '-O0', '-w', '-I', str(OUT / 'precompiled'), '-I', str(ROOT), *HALIDE_INCLUDES]
HALIDE_HOST = '/usr/lib/x86_64-linux-gnu/halide14/get_host_target'
HALIDE_PLUGINS = '/usr/lib/x86_64-linux-gnu/halide14/libautoschedule_'
HALIDE_SECONDS, HALIDE_BYTES = 120, 12 << 30   # one of the schedulers can take a whole machine
HALIDE_AUTOMATIC = ['auto_schedule=true', f'machine_params={os.cpu_count()},33554432,40']
HALIDE_SCHEDULES = {
    'manual': [],
    'mullapudi': ['-p', f'{HALIDE_PLUGINS}mullapudi2016.so', '-s', 'Mullapudi2016', *HALIDE_AUTOMATIC],
    'adams': ['-p', f'{HALIDE_PLUGINS}adams2019.so', '-s', 'Adams2019', *HALIDE_AUTOMATIC],
}


class Failed(Exception):
    """A contender could not be made; the message says why."""


def run(command, processor_seconds=None, memory=None):
    """Runs a command; what it said is in the exception if it failed. Processor time is limited, not time, because others may
    use the machine too."""
    def limit():
        for what, most in ((resource.RLIMIT_CPU, processor_seconds), (resource.RLIMIT_AS, memory)):
            if most:
                resource.setrlimit(what, (most, most))

    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', preexec_fn=limit)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and processor_seconds:
        raise Failed(f'{pathlib.Path(str(command[0])).name} took more than {processor_seconds} s')
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


_locks = collections.defaultdict(threading.Lock)   # workloads are made side by side, and share parts


def remade(target, stamp, make):
    """Calls make unless target was made from the same things before."""
    note = target.with_name(target.name + '.stamp')
    with _locks[target]:
        if target.exists() and note.exists() and note.read_text() == stamp:
            return target
        note.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        make()
        note.write_text(stamp)
    return target


def link(target, parts, *flags, before):
    """Compiles an adapter by the command `before`, and joins it with an object."""
    run(before)
    run(['g++', '-shared', '-o', target, *parts, *flags])


# --- The measuring program ---

def measure():
    sources = [BENCH / f'{part}.c' for part in ('measure', 'pictures', 'pool', 'machine')]
    target = OUT / 'measure'
    command = ['gcc', '-std=c17', '-O2', '-march=native', '-mprefer-vector-width=512', '-ffp-contract=fast', '-fopenmp',
               '-Wall', '-Wextra', '-I', ROOT, *sources, '-o', target, '-lm', '-ldl', '-lpthread']
    return remade(target, stamp_of(sources + [BENCH / 'measure.h'], command), lambda: run(command))


def vulkan():
    """The measuring program of --on vulkan: a host of the Halo library, which is found beside the command."""
    sources = [BENCH / 'vulkan.c', BENCH / 'pictures.c']
    headers = [BENCH / 'measure.h', *sorted((ROOT / 'runtime/include/halo').glob('*.h'))]
    target = OUT / 'vulkan'
    command = ['gcc', '-std=gnu17', '-O2', '-Wall', '-Wextra', '-I', ROOT, '-I', ROOT / 'runtime/include', *sources, '-o', target,
               f'-L{HALO.parent}', '-lhalo', f'-Wl,-rpath,{HALO.parent}', '-lm']
    return remade(target, stamp_of(sources + headers, command), lambda: run(command))


# --- Plain C ---

def shared_headers():
    return sorted(BENCH.glob('plain*.h')) + [ROOT / 'runtime/include/halo/abi.h']


def plain(workload):
    target = OUT / workload.name / 'plain.so'
    sources = [workload.file('plain.c'), BENCH / 'adapters/plain.c']
    command = ['gcc', *C_FLAGS, *workload.defines, '-shared', '-o', target, *sources, '-lm']
    return remade(target, stamp_of(sources + shared_headers(), command), lambda: run(command))


# --- Halide ---

def halide_target():
    """This processor. Halide 14 takes a Zen 4 for a Sapphire Rapids, whose f16 instructions it hasn't."""
    target = run([HALIDE_HOST]).strip()
    if 'avx512_fp16' not in pathlib.Path('/proc/cpuinfo').read_text():
        target = target.replace('-avx512_sapphirerapids', '')
    return target


def halide_generator(workload):
    """The program that compiles the pipeline with whatever schedule is asked for."""
    header = OUT / 'precompiled/Halide.h.gch'
    remade(header, stamp_of([HALIDE_HEADER], HALIDE_FLAGS), lambda: run(['g++', *HALIDE_FLAGS, HALIDE_HEADER, '-o', header]))
    main = OUT / 'halide_main.o'
    remade(main, stamp_of([HALIDE_MAIN], HALIDE_FLAGS), lambda: run(['g++', *HALIDE_FLAGS, '-c', HALIDE_MAIN, '-o', main]))
    source, target = workload.file('halide.cpp'), OUT / workload.name / 'halide_generator'
    command = ['g++', *HALIDE_FLAGS, *workload.defines, source, main, '-o', target, '-lHalide14', '-ldl', '-lpthread']
    return remade(target, stamp_of([source, *sorted(BENCH.glob('halide*.h'))], command), lambda: run(command))


def halide_buffer(i, picture):
    """A row of the adapter's table: components are the dimension after the last, whatever the layout."""
    code = {'u': 'halide_type_uint', 'i': 'halide_type_int', 'f': 'halide_type_float'}[picture.type[0]]
    return (f'    [{i}] = {{{{{code}, {picture.type[1:]}, 1}}, {len(picture.extent)}, {picture.components}, '
            f'{int(picture.planar)}}},\n')


def halide_adapter(workload):
    rows = ''.join(halide_buffer(i, p) for i, p in enumerate(workload.pictures))
    arguments = ', '.join(f'&buffers[{i}]' for i in range(len(workload.pictures)))
    return (f'#include "bench/adapters/halide.h"\n#include "{workload.pipe}.h"\n\n'
            f'static const kind kinds[] = {{\n{rows}}};\n\n'
            f'int contender_run(const halo_image *images, const halo_exec *exec)\n{{\n    (void)exec;\n'
            f'    halide_buffer_t buffers[{len(workload.pictures)}];\n'
            f'    halide_dimension_t dimensions[{len(workload.pictures)}][6];\n'
            f'    for (int i = 0; i < {len(workload.pictures)}; i++)\n'
            f'        view(&buffers[i], dimensions[i], &images[i], &kinds[i]);\n'
            f'    return {workload.pipe}({arguments});\n}}\n')


def halide(workload, schedule):
    """The pipeline under one schedule. What failed before fails again at once, until something changes."""
    generator = halide_generator(workload)
    folder = OUT / workload.name / f'halide_{schedule}'
    target, failure = folder / 'halide.so', folder / 'failure'
    command = [generator, '-g', workload.pipe, '-f', workload.pipe, '-n', workload.pipe, '-o', folder, '-e', 'o,h',
               f'target={halide_target()}', *HALIDE_SCHEDULES[schedule]]
    adapter = halide_adapter(workload)
    source = workload.file('halide.cpp')
    stamp = stamp_of([generator, BENCH / 'adapters/halide.h'], source, command, adapter)
    failed = f'{stamp} {HALIDE_SECONDS} s {HALIDE_BYTES} bytes: '
    if failure.exists() and failure.read_text().startswith(failed):
        raise Failed(failure.read_text().removeprefix(failed))

    def make():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            run(command, HALIDE_SECONDS, HALIDE_BYTES)
        except Failed as error:
            failure.write_text(f'{failed}{error}')
            raise
        (folder / 'adapter.c').write_text(adapter)
        link(target, [folder / 'adapter.o', folder / f'{workload.pipe}.o'], '-lpthread', '-ldl', '-lm',
             before=['gcc', '-O2', '-fPIC', '-I', ROOT, *HALIDE_INCLUDES, '-I', folder, '-c', folder / 'adapter.c', '-o',
                     folder / 'adapter.o'])

    return remade(target, stamp, make)


# --- OpenCV ---

def opencv(workload):
    target = OUT / workload.name / 'opencv.so'
    sources = [workload.file('opencv.cpp'), BENCH / 'adapters/opencv.cpp']
    command = ['g++', '-std=c++17', '-O3', '-march=native', '-fPIC', '-shared', '-I', ROOT, '-I/usr/include/opencv4',
               *workload.defines, *sources, '-o', target, '-Wl,--as-needed', '-Wl,-z,defs',
               *(f'-lopencv_{part}' for part in ('imgproc', 'photo', 'calib3d', 'core'))]
    return remade(target, stamp_of([*sources, *sorted(BENCH.glob('opencv*.h'))], command), lambda: run(command))


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
        link(target, [folder / 'halo_adapter.o', folder / 'halo.o'],
             before=['gcc', '-O2', '-fPIC', '-c', adapter, '-o', folder / 'halo_adapter.o'])

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


def dispatches(workload):
    """How many passes over memory the compiler made of it."""
    return int(re.search(r'(\d+) dispatch', run([HALO, 'explain', workload.script, '--pipe', workload.pipe])).group(1))


def costs(workload):
    return {'compile_ms': compile_ms(workload), 'code_bytes': code_bytes(workload), 'dispatches': dispatches(workload)}
