"""halo run: pictures, names, outputs, folders, batches."""

import os
import pty
import struct
import subprocess

import support
from support import HaloTest

A = [0, 10, 20, 30, 40, 50]


class Names(HaloTest):
    def test_parameters(self):
        self.halo("run", "gain.pipe", "a.pgm", "gain=2", "add=1", "-o", "o.pgm")
        self.assertEqual(self.pixels("o.pgm"), ([2 * v + 1 for v in A], 255))
        self.halo("run", "gain.pipe", "a.pgm", "gian=2", "-o", "p.pgm", status=2,
                  says=["did you mean `gain`?", "inputs: src", "parameters: gain, add"])
        self.halo("run", "gain.pipe", "a.pgm", "gain=2", "gain=3", "-o", "p.pgm", status=2, says="parameter `gain` is given twice")
        self.halo("run", "gain.pipe", "a.pgm", "gain=5", "-o", "p.pgm", status=1, says="gain = 5 is outside its range 0..4")
        self.halo("run", "gain.pipe", "a.pgm", "gain=loud", "-o", "p.pgm", status=1, says="no number")
        self.halo("run", "gain.pipe", "a.pgm", "add=1.5", "-o", "p.pgm", status=1, says="whole number")
        self.halo("run", "make.pipe", "-o", "p.pgm", status=1, says="`n` (i32) has no default")
        self.assertFalse(self.exists("p.pgm"))
        self.halo("run", "make.pipe", "n=3", "-o", "p.pgm")
        self.assertEqual(self.pixels("p.pgm"), ([0, 1, 2, 0, 1, 2], 255))

    def test_sizes_that_leave_32_bits(self):
        """Sums of sizes wrap; a check that believes a wrapped one would let the pipe read outside of its pictures."""
        self.write("big.pipe", "pipe cut(src: image u8, w: i32) -> image u8 { return crop(src, 2, 1, w, 1) }\n"
                               "pipe wide(src: image f32, n: i32) -> image f32\n{\n    k[i in -n..n, j in 0..0] = 1\n"
                               "    return conv(pad(src, edge), k)\n}\n")
        for pipe, value, words in (("cut", 2**31 - 1, "big.pipe:1:54: error[E0608]"), ("cut", 2, "reaches x = w + 1"), ("wide", 2**30, "2*n leaves 32 bits")):
            name = "w" if pipe == "cut" else "n"
            for engine in ([], ["--interpret"]):
                self.halo("run", "big.pipe", "--pipe", pipe, "a.pgm", f"{name}={value}", "-o", "o.npy", *engine, status=1, says=words)
        self.halo("run", "big.pipe", "--pipe", "cut", "a.pgm", "w=1", "-o", "o.pgm")
        self.assertEqual(self.pixels("o.pgm")[0], [50])

    def test_inputs_by_name_and_order(self):
        difference = struct.pack("<6i", *[a - b for a, b in zip(A, [1, 1, 1, 1, 1, 60])])
        for number, words in enumerate((["a.pgm", "b.pgm"], ["b=b.pgm", "a.pgm"], ["a=a.pgm", "b=b.pgm"])):
            self.halo("run", "mix.pipe", *words, "-o", f"{number}.npy")
            self.assertTrue(self.read(f"{number}.npy").endswith(difference))
        self.halo("run", "mix.pipe", "a.pgm", "-o", "o.npy", status=2, says="wants 2 pictures (a, b), 1 given")
        self.halo("run", "mix.pipe", "a.pgm", "b.pgm", "a.pgm", "-o", "o.npy", status=2, says="a.pgm is too many")
        self.halo("run", "mix.pipe", "a=a.pgm", "a=b.pgm", "b.pgm", "-o", "o.npy", status=2, says="given twice")
        self.halo("run", "table.pipe", "a.pgm", "-o", "o.pgm", status=2, says="t=FILE.npy")

    def test_pipes(self):
        self.halo("run", "pipes.pipe", "a.pgm", "-o", "o.pgm", status=2, says="choose one with --pipe: one, other")
        self.halo("run", "pipes.pipe", "a.pgm", "-o", "o.pgm", "--pipe", "other")
        self.assertEqual(self.pixels("o.pgm")[0], [v + 1 for v in A])
        self.halo("run", "pipes.pipe", "a.pgm", "-o", "o.pgm", "--pipe", "othr", status=1, says="did you mean `other`?")
        self.halo("run", "functions.pipe", "a.pgm", "-o", "o.pgm", status=1, says="no pipe")


class Pictures(HaloTest):
    def test_errors_are_status_1_and_write_nothing(self):
        self.write("o.pgm", b"before")
        for script, picture, words in (("wrong.pipe", "a.pgm", "wrong.pipe:3:12: error[E"), ("grey.pipe", "none.pgm", "none.pgm: No such"),
                                       ("grey.pipe", "broken.pgm", "broken.pgm: the file ends early"),
                                       ("grey.pipe", "grey.pipe", "no picture"), ("grey.pipe", ".", "Is a directory")):
            self.halo("run", script, picture, "-o", "o.pgm", status=1, says=words)
        self.assertEqual(self.read("o.pgm"), b"before")
        self.halo("run", "grey.pipe", "a.pgm", "-o", "no/o.pgm", status=1, says="no/o.pgm: No such file")
        self.assertEqual([name for name in os.listdir(self.folder) if "tmp" in name], [])

    def test_conversions_are_noted(self):
        done = self.halo("run", "grey.pipe", "c.ppm", "-o", "o.pgm", says="note: c.ppm: colour became luma")
        self.assertEqual(self.pixels("o.pgm")[0], [2, 251])
        self.assertEqual(self.halo("run", "grey.pipe", "c.ppm", "-o", "o.pgm", "--quiet").stderr, "")
        done = self.halo("run", "copy.pipe", "a.pgm", "-o", "o.ppm")
        self.assertEqual((done.stderr, self.pixels("o.ppm")[0]), ("", [v for a in A for v in (a, a, a)]))

    def test_depth(self):
        self.halo("run", "real.pipe", "a.pgm", "-o", "o.pgm")
        self.assertEqual(self.pixels("o.pgm"), (A, 255))
        self.halo("run", "real.pipe", "a.pgm", "-o", "o.pgm", "--depth", "16")
        self.assertEqual(self.pixels("o.pgm"), ([257 * v for v in A], 65535))
        self.halo("run", "real.pipe", "a.pgm", "-o", "o.pfm")
        values = struct.unpack("<6f", self.read("o.pfm")[-24:])
        self.assertEqual([round(v * 255) for v in values], A[3:] + A[:3])

    def test_arrays(self):
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (256,), }"
        table = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(255 - i for i in range(256))
        self.write("t.npy", table)
        self.halo("run", "table.pipe", "a.pgm", "t=t.npy", "-o", "o.pgm")
        self.assertEqual(self.pixels("o.pgm")[0], [255 - v for v in A])
        self.write("short.npy", table[:-1])
        self.halo("run", "table.pipe", "a.pgm", "t=short.npy", "-o", "p.pgm", status=1, says="short.npy: the file ends early")
        self.halo("run", "table.pipe", "a.pgm", "t=a.pgm", "-o", "p.pgm", status=1, says="`t` is u8[256]")
        self.halo("run", "mix.pipe", "a.pgm", "b.pgm", "-o", "o.png", status=2, says="can't hold output `out` (image i32); .npy can")

    def test_f32_bits_survive(self):
        bits = struct.pack("<4I", 0x7FC12345, 0x80000000, 1, 0x3F800001)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bits)
        self.halo("run", "real.pipe", "x.npy", "-o", "y.npy")
        self.assertTrue(self.read("y.npy").endswith(bits))


class Outputs(HaloTest):
    def test_several(self):
        self.halo("run", "two.pipe", "a.pgm", "-o", "twice=t.pgm", "-o", "flag=f.pgm")
        self.assertEqual(self.pixels("t.pgm")[0], [2 * v for v in A])
        self.assertEqual(self.pixels("f.pgm")[0], [255 * (v > 9) for v in A])
        self.halo("run", "two.pipe", "a.pgm", "-o", "flag=f.npy")
        self.assertTrue(self.read("f.npy").endswith(bytes(v > 9 for v in A)))
        self.halo("run", "two.pipe", "a.pgm", "-o", "o.pgm", status=2, says="(twice, flag)")
        self.halo("run", "two.pipe", "a.pgm", "-o", "twist=o.pgm", status=2, says="outputs: twice, flag")
        self.halo("run", "two.pipe", "a.pgm", "-o", "flag=o.pgm", "-o", "flag=p.pgm", status=2, says="given twice")
        self.halo("run", "two.pipe", "a.pgm", "-o", "flag=o.pgm", "-o", "twice=o.pgm", status=2, says="can't go to one file")
        self.halo("run", "two.pipe", "a.pgm", "-o", "falg=o.pgm", status=2, says="did you mean `flag`?")

    def test_names(self):
        self.halo("run", "grey.pipe", "a.pgm", status=2, says="where to? -o FILE")
        self.halo("run", "grey.pipe", "a.pgm", "-o", "o", status=2, says=".png")
        self.halo("run", "grey.pipe", "a.pgm", "-o", "o.bmp", status=2, says=".png")
        self.halo("run", "copy.pipe", "c.ppm", "-o", "o.pgm", status=2, says="can't hold")

    def test_time(self):
        self.halo("run", "grey.pipe", "a.pgm", "--time", "--repeat", "3", says=["compile ", " ms, run ", "Mpixel/s"])


class Folders(HaloTest):
    def test_errors_of_one_do_not_stop_the_others(self):
        done = self.halo("run", "grey.pipe", "a.pgm", "broken.pgm", "b.pgm", "-o", "out/", status=1, says="broken.pgm: the file ends early")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.pgm", "b.pgm"])
        self.assertEqual(self.pixels("out/a.pgm")[0], A)
        self.assertNotIn("\r", done.stderr)                  # no progress bar but on a terminal

    def test_progress_bar_on_a_terminal(self):
        ours, theirs = pty.openpty()
        with subprocess.Popen([support.HALO, "run", "grey.pipe", "a.pgm", "broken.pgm", "b.pgm", "-o", "out/"], cwd=self.folder,
                              stderr=theirs) as process:
            self.assertEqual(process.wait(60), 1)
        os.close(theirs)
        shown = os.read(ours, 10000).decode()
        os.close(ours)
        self.assertIn("1/3 broken.pgm", shown)
        self.assertIn("\r\x1b[Khalo: broken.pgm: the file ends early", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"))

    def test_endings(self):
        self.halo("run", "two.pipe", "a.pgm", "b.pgm", "-o", "out/")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a-flag.pgm", "a-twice.pgm", "b-flag.pgm", "b-twice.pgm"])
        self.halo("run", "grey.pipe", "c.ppm", "-o", "out")
        self.assertEqual(self.pixels("out/c.ppm")[0], [2, 2, 2, 251, 251, 251])        # grey is repeated where a file has no grey
        self.halo("run", "mix.pipe", "b=b.pgm", "a.pgm", "-o", "sums/")
        self.assertEqual(os.listdir(self.path("sums")), ["a.npy"])

    def test_nothing_is_overwritten_unasked(self):
        before = self.read("a.pgm")
        self.halo("run", "gain.pipe", "a.pgm", "-o", "./", status=1, says="overwrite")
        self.assertEqual(self.read("a.pgm"), before)
        os.mkdir(self.path("more"))
        self.write("more/a.pgm", self.read("b.pgm"))
        self.halo("run", "grey.pipe", "a.pgm", "more/a.pgm", "-o", "out/", status=1, says="another picture of that name")
        self.assertEqual(self.pixels("out/a.pgm")[0], A)
        self.halo("run", "grey.pipe", "a.pgm", "b.pgm", "-o", "o.pgm", status=2, says="-o DIR/")


class Switches(HaloTest):
    def test_no_switch_changes_a_bit(self):
        self.write("blur.pipe", "pipe blur(src: image u8) -> image f32 { k = [[1, 2, 1], [2, 4, 2], [1, 2, 1]] / 16\n"
                                " return conv(pad(conv(pad(src, edge), k), reflect), k) }\n")
        self.halo("run", "blur.pipe", "a.pgm", "-o", "right.npy", "--interpret")
        right = self.read("right.npy")
        for words in ([], ["--threads", "2"], ["--tile", "16x1"], ["--stream", "always"], ["--stream", "never"], ["--no-fuse"], ["--force-border"], ["--reparse"], ["--skip", "inline"],
                      ["--no-verify"], ["--threads", "1", "--tile", "0x1", "--no-fuse"]):
            self.halo("run", "blur.pipe", "a.pgm", "-o", "o.npy", *words)
            self.assertEqual(self.read("o.npy"), right, words)
        self.halo("run", "blur.pipe", "a.pgm", "-o", "w.npy", "--interpret=written")
        self.halo("run", "blur.pipe", "a.pgm", "-o", "s.npy", "--strict")
        self.halo("run", "blur.pipe", "a.pgm", "-o", "t.npy", "--strict", "--interpret")
        self.assertEqual(self.read("s.npy"), self.read("t.npy"))
        self.halo("run", "blur.pipe", "a.pgm", "-o", "o.npy", "--skip", "contract", status=1, says="can't be skipped")
        self.halo("run", "blur.pipe", "a.pgm", "-o", "o.npy", "--skip", "inlin", status=1, says="did you mean `inline`?")

    def test_totals_of_64_bits(self):
        """Partial totals are stored as whole numbers of 64 bits, which no picture has."""
        for lanes, part in ((1, ""), (3, ""), (3, ".gb")):
            kind, result = ("u8", "f32") if lanes == 1 else ("u8x3", "f32x2" if part else "f32x3")
            self.write("mean.pipe", f"pipe m(src: image {kind}) -> image {result} {{\n"
                                    f"    m = mean((x, y) in src: src[x, y]{part})\n    return src{part} - m\n}}\n")
            self.write("m.ppm", b"P%d 70 40 255\n" % (6 if lanes == 3 else 5) + bytes(k * k * 7 % 251 for k in range(70 * 40 * lanes)))
            self.halo("run", "mean.pipe", "m.ppm", "-o", "right.npy", "--interpret")
            for words in ([], ["--no-fuse"], ["--force-border"], ["--no-fuse", "--force-border"], ["--skip", "split_folds"]):
                self.halo("run", "mean.pipe", "m.ppm", "-o", "o.npy", *words)
                self.assertEqual(self.read("o.npy"), self.read("right.npy"), words)

    def test_rows_past_the_caches_and_where_they_lie(self):
        """Rows wide enough for both, aligned and not; windows that can't be split read copied rows; several border modes."""
        taps = "[[1, 2, 3, 2, 1], [2, 5, 6, 3, 2], [3, 7, 9, 7, 5], [1, 3, 5, 3, 1], [2, 1, 2, 4, 1]]"
        for border in ("edge", "reflect", "reflect101", "wrap", "constant(9)"):
            self.write("window.pipe", f"pipe window(src: image u8x3) -> image f32x3 {{ return conv(pad(src, {border}), {taps}) }}\n")
            for width, height in ((150, 7), (192, 5), (11, 9)):
                self.write("w.ppm", b"P6 %d %d 255\n" % (width, height) + bytes(k * k * 7 % 251 for k in range(width * height * 3)))
                self.halo("run", "window.pipe", "w.ppm", "-o", "right.npy", "--interpret")
                for words in (["--stream", "always"], ["--stream", "always", "--tile", "70x3", "--threads", "2"]):
                    self.halo("run", "window.pipe", "w.ppm", "-o", "o.npy", *words)
                    self.assertEqual(self.read("o.npy"), self.read("right.npy"), (border, width, words))


class Batches(HaloTest):
    def test_each_line_is_a_run(self):
        self.write("spaced name.pgm", self.read("a.pgm"))
        self.write("lines", "# a comment\ngrey.pipe a.pgm -o 1.pgm\n\ngrey.pipe 'spaced name.pgm' -o \"2.pgm\"\n"
                            "wrong.pipe a.pgm -o 3.pgm\ngain.pipe a.pgm gain=9 -o 4.pgm\ngrey.pipe a.pgm --frob\n"
                            "grey.pipe spaced\\ name.pgm --interpret -o 5.pgm\ngrey.pipe 'a.pgm\n")
        done = self.halo("run", "--batch", "lines", status=1)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["ok", "ok", "error", "error", "error", "ok", "error"])
        self.assertIn("wrong.pipe:3:12: error[E", lines[2])
        self.assertIn("range 0..4", lines[3])
        self.assertEqual(self.pixels("2.pgm")[0], A)
        self.assertEqual(self.pixels("5.pgm")[0], A)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.halo("run", "--batch", "-", stdin="grey.pipe a.pgm -o 1.pgm\n").stdout, "ok\n")
        self.halo("run", "--batch", "none", status=1, says="none: No such file")
        self.halo("run", "--batch", "lines", "grey.pipe", status=2, says="stands alone")
        self.halo("run", "--batch", "lines", "--strict", status=2, says="stands alone")
