"""What the tests of the command share: a folder per test, running halo, small files."""

import os
import struct
import subprocess
import tempfile
import unittest

HALO = "halo"
CC = "cc"

SCRIPTS = {
    "copy.pipe": "pipe copy(src: image u8x3) -> image u8x3 { return src }\n",
    "grey.pipe": "pipe grey(src: image u8) -> image u8 { return src }\n",
    "real.pipe": "pipe real(src: image f32) -> image f32 { return src }\n",
    "gain.pipe": "## Scales.\npipe gain(src: image u8, ## How much.\n          gain: f32 = 1.5 in 0..4, add: i32 = 0) -> image u8\n"
                 "{ return u8(src * gain + add) }\n",
    "two.pipe": "pipe two(src: image u8) -> (twice: image u8, flag: image bool)\n{ return u8(src * 2), src > 9 }\n",
    "mix.pipe": "pipe mix2(a: image u8, b: image u8) -> image i32 { return a - b }\n",
    "table.pipe": "pipe look(src: image u8, t: u8[256]) -> image u8 { return t[src] }\n",
    "pipes.pipe": "pipe one(src: image u8) -> image u8 { return src }\npipe other(src: image u8) -> image u8 { return u8(src + 1) }\n",
    "make.pipe": "pipe make(n: i32 in 1..100) -> image u8 { v[x in 0..<n, y in 0..<2] = u8(x)\n return v }\n",
    "wrong.pipe": "pipe wrong(src: image u8) -> image u8\n{\n    return sorce\n}\n",
    "functions.pipe": "fn twice(v) = v * 2\n",
}


class HaloTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        for name, text in SCRIPTS.items():
            self.write(name, text)
        self.write("a.pgm", b"P5\n3 2\n255\n" + bytes([0, 10, 20, 30, 40, 50]))
        self.write("b.pgm", b"P5\n3 2\n255\n" + bytes([1, 1, 1, 1, 1, 60]))
        self.write("c.ppm", b"P6\n2 1\n255\n" + bytes([1, 2, 3, 250, 251, 252]))
        self.write("broken.pgm", b"P5\n3 2\n255\n" + bytes([1, 2]))

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def exists(self, name):
        return os.path.exists(self.path(name))

    def halo(self, *words, status=0, says=(), stdin=None, env=None):
        """Runs halo in the folder; its exit status and words on stderr have to be these."""
        done = subprocess.run([HALO, *words], cwd=self.folder, capture_output=True, text=True, timeout=60, input=stdin, env=env)
        self.assertEqual(done.returncode, status, f"halo {' '.join(words)}\n{done.stdout}{done.stderr}")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr, f"halo {' '.join(words)}")
        return done

    def pixels(self, name):
        """The samples of a binary PGM or PPM, and its maximum."""
        data = self.read(name)
        kind, width, height, maximum = data.split(None, 4)[:4]
        count = int(width) * int(height) * (3 if kind == b"P6" else 1)
        wide = int(maximum) > 255
        body = data[-count * (2 if wide else 1):]
        return list(struct.unpack(f">{count}{'H' if wide else 'B'}", body)), int(maximum)
