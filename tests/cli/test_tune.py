"""halo tune, and what the file that it writes does: the same bits, other schedules, messages where it doesn't fit."""

import json
import re

from support import HaloTest

# The hint is a bad one (blocks of 8 columns, strips of one row), so that there is something to gain.
SLOW = """pipe slow(src: image u8x3) -> image u8x3
{
    lin = pad(f32(src)*1.1, edge)
    mean[x, y] = sum(dx in -2..2, dy in -2..2: lin[x + dx, y + dy])/27
    @tile(8, 1)
    out = u8(clamp(mean, 0, 255))
    return out
}
"""


# Little to try, and the same bad hint.
BLOCKS = "pipe slow(src: image u8) -> image u8\n{\n    @tile(8, 1)\n    out = u8(255 - src)\n    return out\n}\n"


class Tune(HaloTest):
    def setUp(self):
        super().setUp()
        self.write("slow.pipe", SLOW)
        self.write("p.ppm", b"P6\n61 23\n255\n" + bytes(k * k * 7 % 251 for k in range(61 * 23 * 3)))

    def choices(self, script="slow.pipe", *words):
        """What could be chosen: the line that heads it, and the others."""
        lines = self.halo("show", script, "--stage", "choices", *words).stdout.splitlines()
        return lines[0], lines[1:]

    def tuned(self, *lines, head=None, script="slow.pipe"):
        self.write(script + ".tune", "\n".join(["halo tuning 1", head or self.choices("slow.pipe", "--no-tune")[0], *lines]) + "\n")

    def result(self, *words, says=()):
        self.halo("run", "slow.pipe", "p.ppm", "-o", "o.ppm", *words, says=says)
        return self.read("o.ppm")

    def kernel(self, *words):
        return self.halo("show", "slow.pipe", "--stage", "kernel", *words).stdout

    def test_every_choice_keeps_the_bits(self):
        expected, plain = self.result("--interpret"), self.kernel()
        alternatives = self.choices()[1]
        kinds = {line.split()[0] for line in alternatives}
        self.assertTrue({"skip", "lanes", "rows", "vectors", "tile", "stream"} <= kinds, alternatives)
        for line in alternatives + ["rows * 3", "rows * 8", "vectors * 3", "vectors * 8", "planes *", "tile 7x5"]:
            self.tuned(line)
            done = self.halo("run", "slow.pipe", "p.ppm", "-o", "o.ppm")
            self.assertEqual((done.stderr, self.read("o.ppm")), ("", expected), line)
            if line.split()[0] in ("lanes", "rows", "vectors") and "*" not in line:
                self.assertNotEqual(self.kernel(), plain, line)
                self.assertEqual(self.kernel("--no-tune"), plain, line)

    def test_a_choice_is_made(self):
        self.tuned("rows out 3", "vectors out 2", "planes out", "skip tabulate")
        self.assertRegex(self.kernel(), r"stage %out .* to memory planes lanes=\d+ unroll=2 rows=3 ")
        self.tuned("rows * 3", "rows out 1")
        self.assertRegex(self.kernel(), r"stage %out .* rows=1 ")

    def test_other_processors(self):
        self.tuned("rows out 3", head="pipe slow cpu x86-64-v2 measured 640x480")
        self.assertEqual(self.kernel("--cpu", "x86-64-v3"), self.kernel("--cpu", "x86-64-v3", "--no-tune"))
        self.tuned("rows out 3", "skip integers", head="pipe slow cpu x86-64-v3 measured 640x480")
        self.assertIn("rows=3", self.kernel("--cpu", "x86-64-v3"))
        self.assertIn("tuned for x86-64-v3, measured 640x480: rows out 3, skip integers\n",
                      self.halo("explain", "slow.pipe", "--cpu", "x86-64-v3").stdout)
        self.assertIn("the choices for x86-64-v3 are not for x86-64-v2\n",
                      self.halo("explain", "slow.pipe", "--strict", "--cpu", "x86-64-v2").stdout)
        self.assertNotIn("x86-64-v3", self.halo("explain", "slow.pipe", "--no-tune").stdout)
        for words in ((), ("--cpu", "x86-64-v3,x86-64-v4")):
            self.halo("build", "slow.pipe", "-o", "tuned.ll", *words)
            self.halo("build", "slow.pipe", "-o", "plain.ll", "--no-tune", *words)
            self.assertNotEqual(self.read("tuned.ll"), self.read("plain.ll"))

    def test_explain_json(self):
        self.tuned("rows out 3")
        self.assertEqual(json.loads(self.halo("explain", "slow.pipe", "--json").stdout)["tuned"], ["rows out 3"])
        self.assertEqual(json.loads(self.halo("explain", "slow.pipe", "--json", "--no-tune").stdout)["tuned"], [])

    def test_what_does_not_fit_is_a_warning(self):
        expected = self.result()
        for line, says in (("rows uot 4", ["slow.pipe.tune:3:1: warning[W0702]", "no stage `uot`", "did you mean `out`?"]),
                           ("lanes out 1", ["slow.pipe.tune:3:1: warning[W0702]"]),
                           ("skip inlin", ["slow.pipe.tune:3:1: warning[W0702]", "no exact pass `inlin`"]),
                           ("skip contract", ["no exact pass `contract`"])):
            self.tuned(line)
            self.assertEqual(self.result(says=[*says, "run `halo tune` again"]), expected)
            self.assertEqual(self.halo("run", "slow.pipe", "p.ppm", "-o", "o.ppm", "--no-tune").stderr, "")
        self.tuned("rows out 3", head="pipe slwo cpu znver4")
        self.assertEqual(self.result(says=["slow.pipe.tune:2:1: warning[W0702]", "no pipe `slwo`", "did you mean `slow`?"]), expected)
        self.tuned("rows uot 4", head="pipe slow cpu x86-64-v3")
        for words in (("build", "-o", "a.o"), ("explain", "--cpu", "x86-64-v3"), ("show", "--stage", "kernel", "--cpu", "x86-64-v3")):
            self.halo(words[0], "slow.pipe", *words[1:], says="slow.pipe.tune:3:1: warning[W0702]")

    def test_what_is_not_understood_is_an_error(self):
        for text, line in (("", 1), ("halo tuning 2\n", 1), ("P6\n", 1), ("halo tuning 1\nrows out 2\n", 2),
                           ("halo tuning 1\npipe slow\n", 2), *((f"halo tuning 1\n\n# so\npipe slow cpu znver4 # as\n{wrong}\n", 5) for wrong in
                           ("rows out 9", "rows out 0", "rows out", "rows out 2 3", "vectors out x", "vectors out 2x", "tile 5", "tile 5x", "tile 5x-1",
                            "tile 99999999999x1", "stream", "stream maybe", "planes", "skip", "row out 2", "rows out\" 2", "planes o\\", "\0rows out 2", "\xe9"))):
            self.write("slow.pipe.tune", text)
            for command in (("run", "slow.pipe", "p.ppm", "-o", "n.ppm"), ("build", "slow.pipe", "-o", "n.o"), ("explain", "slow.pipe")):
                self.halo(*command, status=1, says=[f"slow.pipe.tune:{line}:", "error[E0702]", "help: ", "--no-tune"])
            self.halo("run", "slow.pipe", "p.ppm", "-o", "o.ppm", "--no-tune")
            self.halo("run", "slow.pipe", "p.ppm", "-o", "o.ppm", "--interpret")
        self.assertFalse(self.exists("n.ppm") or self.exists("n.o"))

    def test_command(self):
        self.write("slow.pipe", BLOCKS)
        expected = self.result("--interpret")
        other = "pipe slow cpu m68k measured once\nrows out 2\n"
        self.write("slow.pipe.tune", "halo tuning 1\n" + other)
        said = self.halo("tune", "slow.pipe", "--size", "200x100", "--threads", "1", "--seconds", "30").stdout
        self.assertIn("% of the time, kept\n", said)
        found = re.search(r"([\d.]+) ms became ([\d.]+) ms, ([\d.]+) times as fast", said)
        self.assertGreater(float(found[3]), 1.5)
        written = self.read("slow.pipe.tune").decode()
        self.assertRegex(written, rf"{self.choices()[0]} measured 200x100, 1 thread: {found[2]} ms, before {found[1]} ms\n")
        self.assertIn(other, written)
        self.assertEqual(self.result(), expected)
        self.halo("tune", "slow.pipe", "p.ppm", "--seconds", "1", "--quiet", "--threads", "1")
        self.assertEqual(self.result(), expected)
        self.assertIn(other, self.read("slow.pipe.tune").decode())

    def test_nothing_gained_writes_nothing(self):
        self.write("nothing.pipe", "pipe nothing(n: i32 = 3) -> image u8 { v[x in 0..<n, y in 0..<2] = u8(x)\n return v }\n")
        said = self.halo("tune", "nothing.pipe", "--seconds", "1", "--threads", "1", "n=1").stdout
        self.assertNotEqual("nothing gained" in said, " became " in said)       # a machine may well like one better than another
        self.assertEqual(self.exists("nothing.pipe.tune"), " became " in said)

    def test_inputs(self):
        self.halo("tune", "table.pipe", "--size", "64x64", "--seconds", "1", "-q")          # a table is made up as well
        self.halo("tune", "gain.pipe", "a.pgm", "gain=2", "--seconds", "1", "-q")
        self.halo("tune", "gain.pipe", "gain=9", status=1, says="0..4")
        self.halo("tune", "gain.pipe", "a.pgm", "b.pgm", status=2, says="takes fewer pictures")
        self.halo("tune", "gain.pipe", "broken.pgm", status=1, says="broken.pgm")
        self.halo("tune", "pipes.pipe", status=2, says="choose one with --pipe: one, other")
        self.halo("tune", "pipes.pipe", "--pipe", "other", "--size", "64x64", "--seconds", "1", "-q")
        self.halo("tune", "make.pipe", status=1, says="n")                                   # a parameter without a default
        self.halo("tune", "wrong.pipe", status=1, says="wrong.pipe:3:12")
        self.halo("tune", "gain.pipe", "--size", "64", status=2, says="WIDTHxHEIGHT")
        self.halo("tune", "gain.pipe", "--seconds", "0", status=2, says="from 1 on")
        self.halo("tune", "gain.pipe", "--cpu", "pdp11", status=1, says="pdp11")
