"""Help, wrong usage, and the commands that only talk: check, fmt, info, show, explain."""

import json

from support import HaloTest

COMMANDS = ["run", "build", "check", "fmt", "info", "show", "explain", "tune", "devices"]


class Usage(HaloTest):
    def test_help(self):
        text = self.halo("--help").stdout
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", text)
            own = self.halo(command, "--help").stdout
            self.assertTrue(own.startswith(f"usage: halo {command}"), own)
            self.assertIn("\nexample:\n  halo ", own)
            self.assertIn("--help", own)
            self.assertEqual(own, self.halo(command, "-h").stdout)

    def test_wrong_usage_is_status_2(self):
        self.halo(status=2, says="usage: halo")
        self.halo("rnu", status=2, says="did you mean `run`?")
        self.halo("dance", status=2, says="`halo --help` lists them")
        for command in COMMANDS:
            if command != "devices":
                self.halo(command, status=2, says="--help")
            self.halo(command, "--frobnicate", "copy.pipe", status=2, says="unknown option --frobnicate")
        self.halo("run", "--thread", "2", "--quite", "copy.pipe", status=2, says="did you mean --quiet?")
        self.halo("run", "copy.pipe", "c.ppm", "-o", status=2, says="-o needs a value")
        self.halo("run", "copy.pipe", "c.ppm", "-Z", status=2, says="unknown option -Z")
        self.halo("run", "copy.pipe", "--quiet=3", status=2, says="--quiet takes no value")

    def test_values_of_options(self):
        for words, text in ([("--depth", "12"), "--depth is 8 or 16"], [("--threads", "many"), "--threads takes a whole number"],
                            [("--threads", "0"), "from 1 on"], [("--tile", "8"), "WIDTHxROWS"], [("--stream", "often"), "--stream is always or never"], [("--tile", "8x99999999999"), "WIDTHxROWS"],
                            [("--interpret=twice",), "--interpret takes nothing, or =written"], [("--repeat", "-1"), "--repeat"]):
            self.halo("run", "copy.pipe", "c.ppm", "-o", "o.ppm", *words, status=2, says=text)
        self.assertFalse(self.exists("o.ppm"))


class Check(HaloTest):
    def test_status(self):
        self.assertEqual(self.halo("check", "copy.pipe", "functions.pipe").stderr, "")
        self.halo("check", "copy.pipe", "wrong.pipe", status=1, says=["wrong.pipe:3:12: error[E02", "return sorce", "^^^^^"])
        self.halo("check", "none.pipe", status=1, says="none.pipe: No such file")

    def test_json(self):
        self.assertEqual(json.loads(self.halo("check", "--json", "copy.pipe").stdout), [])
        found = json.loads(self.halo("check", "--json", "wrong.pipe", "copy.pipe", "wrong.pipe", status=1).stdout)
        self.assertEqual(len(found), 2)
        self.assertEqual((found[0]["file"], found[0]["line"], found[0]["column"], found[0]["severity"]), ("wrong.pipe", 3, 12, "error"))


class Format(HaloTest):
    LOOSE = "pipe  p( a:image u8)->image u8 {\nreturn   a\n}\n"

    def test_stdout_and_in_place(self):
        self.write("loose.pipe", self.LOOSE)
        text = self.halo("fmt", "loose.pipe").stdout
        self.assertNotEqual(text, self.LOOSE)
        self.assertEqual(self.read("loose.pipe").decode(), self.LOOSE)
        self.assertEqual(self.halo("fmt", "--check", "loose.pipe", status=1).stdout, "loose.pipe\n")
        self.halo("fmt", "-i", "loose.pipe")
        self.assertEqual(self.read("loose.pipe").decode(), text)
        self.assertEqual(self.halo("fmt", "--check", "loose.pipe").stdout, "")

    def test_errors_change_nothing(self):
        self.write("bad.pipe", "pipe p(\n")
        self.halo("fmt", "-i", "bad.pipe", status=1, says="bad.pipe:")
        self.assertEqual(self.read("bad.pipe"), b"pipe p(\n")
        self.halo("fmt", "none.pipe", status=1, says="none.pipe: No such file")
        self.halo("fmt", "--check", "-i", "copy.pipe", status=2)


class Info(HaloTest):
    def test_text(self):
        text = self.halo("info", "gain.pipe").stdout
        for words in ("pipe gain\n", "Scales.", "input      src: image u8\n", "parameter  gain: f32 = 1.5 in 0..4\n", "How much.",
                      "parameter  add: i32 = 0\n", "output     out: image u8\n"):
            self.assertIn(words, text)

    def test_as_written(self):
        self.write("lut.pipe", "pipe lut(a: u8[N, _, N], b: image f32, size: i32 = 480) -> image f32 { return b }\n")
        text = self.halo("info", "lut.pipe").stdout
        for words in ("a: u8[N, _, N]\n", "size: i32 = 480\n"):
            self.assertIn(words, text)

    def test_json(self):
        pipes = json.loads(self.halo("info", "--json", "gain.pipe").stdout)
        self.assertEqual([p["name"] for p in pipes], ["gain"])
        gain = pipes[0]["parameters"][0]
        self.assertEqual((gain["name"], gain["kind"], gain["default"], gain["low"], gain["high"]), ("gain", "f32", 1.5, 0, 4))
        self.assertEqual(pipes[0]["inputs"][0]["image"], True)
        self.assertEqual(json.loads(self.halo("info", "--json", "table.pipe").stdout)[0]["inputs"][1]["extents"], ["256"])
        self.assertEqual([p["name"] for p in json.loads(self.halo("info", "--json", "pipes.pipe").stdout)], ["one", "other"])
        self.assertEqual(json.loads(self.halo("info", "--json", "functions.pipe").stdout), [])

    def test_errors(self):
        self.halo("info", "wrong.pipe", status=1, says="wrong.pipe:3:12")
        self.halo("info", "--pipe", "oter", "pipes.pipe", status=1, says="did you mean `other`?")


class Show(HaloTest):
    def test_every_stage(self):
        starts = {"ast": "pipe gain", "tensor": "pipeline 1 @gain", "dispatch": "dispatches 1 @gain", "kernel": "kernel 1 @gain",
                  "llvm": "; ModuleID", "asm": "\t.text"}
        for stage, start in starts.items():
            self.assertTrue(self.halo("show", "gain.pipe", "--stage", stage).stdout.startswith(start), stage)

    def test_passes(self):
        listed = self.halo("show", "--list").stdout
        for word in ("tensor", "kernel", "contract", "define", "inline", "exact"):
            self.assertIn(word, listed)
        written = self.halo("show", "gain.pipe", "--after", "written").stdout
        self.write("g.ir", written)
        self.assertEqual(self.halo("show", "g.ir", "--after", "written").stdout, written)
        self.assertEqual(self.halo("show", "g.ir", "--after", "contract").stdout, self.halo("show", "gain.pipe", "--after", "contract").stdout)
        self.assertTrue(self.halo("show", "g.ir", "--pass", "clean").stdout.startswith("pipeline 1 @gain"))
        self.halo("show", "gain.pipe", "--pass", "clean", status=2, says=".ir")

    def test_errors(self):
        self.halo("show", "gain.pipe", "--stage", "kernal", status=2, says="did you mean `kernel`?")
        self.halo("show", "gain.pipe", "--after", "contrct", status=2, says="did you mean `contract`?")
        self.halo("show", "pipes.pipe", status=2, says="choose one with --pipe")
        self.halo("show", "functions.pipe", status=1, says="no pipe")
        self.write("bad.ir", "pipeline 1 @p {\n  nonsense\n}\n")
        self.halo("show", "bad.ir", status=1, says="bad.ir:2:")


class Explain(HaloTest):
    def test_text_and_json(self):
        self.assertIn("dispatch 0", self.halo("explain", "gain.pipe").stdout)
        json.loads(self.halo("explain", "--json", "gain.pipe").stdout)
        self.assertEqual(len(json.loads(self.halo("explain", "--json", "pipes.pipe").stdout)), 2)
        self.halo("explain", "wrong.pipe", status=1, says="wrong.pipe:3:12")
