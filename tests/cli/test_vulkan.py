"""Vulkan from the command: devices, and the messages of machines that lack something. What needs a device skips without one."""

import json
import os
import re
import subprocess
import sys

import support
from support import HaloTest


def device():
    """The first device's name, or None: said aloud once, since a suite that skips what matters mustn't look like one that passed."""
    if not hasattr(device, "name"):
        done = subprocess.run([support.HALO, "devices"], capture_output=True, text=True, timeout=60)
        device.name = done.stdout.splitlines()[0].partition("  ")[2] if done.returncode == 0 else None
        if not device.name:
            print(f"\n*** no Vulkan device: its tests are SKIPPED ({done.stderr.strip()})", file=sys.stderr)
    return device.name


class VulkanTest(HaloTest):
    def setUp(self):
        if not device():
            self.skipTest("no Vulkan device")
        super().setUp()

    def halo(self, *words, env=None, **more):
        """Drivers leave memory behind; a sanitizer mustn't count that as Halo's."""
        return super().halo(*words, env={**(env or os.environ), "ASAN_OPTIONS": "detect_leaks=0"}, **more)


class Missing(HaloTest):
    """Machines without Vulkan, without a driver, without a device."""

    def without_loader(self):
        """No library of that name can be loaded: those found first are none."""
        for name in ("libvulkan.so.1", "libvulkan.so"):
            self.write(name, "nothing")
        return {**os.environ, "LD_LIBRARY_PATH": self.folder}

    def without_driver(self):
        return {**os.environ, "VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}

    def test_devices(self):
        self.halo("devices", status=1, says=["no Vulkan: libvulkan.so.1 isn't there", "libvulkan1"], env=self.without_loader())
        self.halo("devices", status=1, says=["no Vulkan driver", "mesa-vulkan-drivers"], env=self.without_driver())
        self.halo("devices", "0", status=2, says="devices takes nothing")

    def test_run(self):
        for env, says in ((self.without_loader(), "no Vulkan: libvulkan.so.1 isn't there"), (self.without_driver(), "no Vulkan driver")):
            self.halo("run", "grey.pipe", "a.pgm", "-o", "o.pgm", "--on", "vulkan", status=1, says=[says, "--on cpu"], env=env)
            self.assertFalse(self.exists("o.pgm"))
            self.halo("run", "grey.pipe", "a.pgm", "-o", "o.pgm", "--on", "auto", says=["note: on the processor: ", says], env=env)
            self.assertEqual(self.pixels("o.pgm")[0], [0, 10, 20, 30, 40, 50])
            self.halo("run", "grey.pipe", "a.pgm", "-o", "o.pgm", env=env)                 # nothing else asks for it
            self.halo("show", "grey.pipe", "--on", "vulkan", "--stage", "spirv", env=env)
            os.remove(self.path("o.pgm"))


class Options(HaloTest):
    """Nothing that is said is left aside."""

    def test_other_places(self):
        run = ("run", "grey.pipe", "a.pgm", "-o", "o.pgm")
        for words in (["--threads", "2"], ["--stream", "never"], ["--no-tune"], ["--interpret"]):
            self.halo(*run, "--on", "vulkan", *words, status=2, says=[words[0], "is for the processor"])
        for words in (["--device", "0"], ["--max-workgroups", "2"], ["--vulkan-limits", "minimum"], ["--no-narrow-storage"], ["--staging"],
                      ["--validate"]):
            self.halo(*run, *words, status=2, says=[words[0], "add --on vulkan"])
            self.halo(*run, "--on", "cpu", *words, status=2, says=[words[0], "add --on vulkan"])
        self.halo(*run, "--on", "auto", "--interpret", status=2, says="don't go together")
        self.halo(*run, "--on", "gpu", status=2, says="--on is cpu, vulkan or auto, not `gpu`")
        self.halo(*run, "--on", "vulkan", "--vulkan-limits", "most", status=2, says="--vulkan-limits is minimum")
        self.halo(*run, "--on", "vulkan", "--max-workgroups", "0", status=2, says="from 1 on")
        self.assertFalse(self.exists("o.pgm"))

    def test_layouts(self):
        show = ("show", "grey.pipe", "--on", "vulkan", "--stage", "kernel", "--layout")
        text = self.halo(*show, "src=sampled,out=image").stdout
        self.assertIn("%src sampled VK_FORMAT_R8_UNORM\n", text)
        self.assertRegex(text, r"written image VK_FORMAT_R8_UNORM\n")
        text = self.halo("show", "grey.pipe", "--on", "vulkan", "--stage", "spirv", "--layout", "src=sampled,out=image").stdout
        for word in ("OpImageFetch", "OpImageWrite", "StorageImageExtendedFormats"):
            self.assertIn(word, text)
        images = ("--layout", "src=sampled", "--layout", "out=image")
        self.halo("build", "grey.pipe", "--vulkan", "-o", "grey.o", "--header", "grey.h", *images)
        self.assertIn("src: input, u8, 2 dimensions, a sampled image, VK_FORMAT_R8_UNORM", self.read("grey.h").decode())
        self.assertIn("out: output, u8, 2 dimensions, a storage image, VK_FORMAT_R8_UNORM", self.read("grey.h").decode())
        self.halo("build", "grey.pipe", "-o", "grey.spv", "--json", "grey.json", *images)
        made = json.loads(self.read("grey.json"))
        self.assertEqual([(m["name"], m["kind"], m["layout"], m["format"]) for m in made["memories"]],
                         [("src", "u8", "sampled", "VK_FORMAT_R8_UNORM"), ("out", "u8", "image", "VK_FORMAT_R8_UNORM")])
        self.assertEqual({b["name"]: b["type"] for b in made["kernels"][0]["bindings"]}, {"src": "SAMPLED_IMAGE", "out": "STORAGE_IMAGE"})
        self.assertEqual(made["kernels"][0]["features"], ["shaderStorageImageExtendedFormats"])
        self.halo(*show, "src=imag", status=1, says=["`src=imag` is not understood", "NAME=sampled"])
        self.halo(*show, "out=sampled", status=1, says=["E0552", "only read", "out=image"])
        self.write("whole.pipe", "pipe p(src: image i32, cube: u8[W, H, N]) -> image u8 { return u8(src + i32(cube[0, 0, 0])) }\n")
        show = ("show", "whole.pipe", "--on", "vulkan", "--stage", "kernel", "--layout")
        self.halo(*show, "src=image", status=1, says=["whole.pipe:1:8: error[E0552]", "the i32 of `src`", "u8, u16, f16 and f32"])
        self.halo(*show, "cube=sampled", status=1, says=["whole.pipe:1:24: error[E0552]", "3 dimensions", "cube=interleaved"])

    def test_texts(self):
        for stage, words in (("dispatch", "out"), ("kernel", "kernel"), ("spirv", "OpEntryPoint GLCompute"), ("explain", "vulkan")):
            self.assertIn(words, self.halo("show", "gain.pipe", "--on", "vulkan", "--stage", stage).stdout)
        json.loads(self.halo("explain", "gain.pipe", "--on", "vulkan", "--json").stdout)
        self.assertIn("pipe", self.halo("show", "gain.pipe", "--on", "vulkan", "--after", "written").stdout)
        for stage in ("llvm", "asm", "choices"):
            self.halo("show", "gain.pipe", "--on", "vulkan", "--stage", stage, status=2, says=["of the processor", "spirv"])
        self.halo("show", "gain.pipe", "--stage", "spirv", status=2, says="--on vulkan shows it")
        for words in (["--cpu", "native"], ["--target", "x86_64-linux-gnu"], ["--no-tune"]):
            self.halo("show", "gain.pipe", "--on", "vulkan", *words, status=2, says=[words[0], "is for the processor"])
        for command in ("show", "explain"):
            self.halo(command, "gain.pipe", "--on", "auto", status=2, says="--on is cpu or vulkan")
        self.halo("explain", "gain.pipe", "--on", "vulkan", "--cpu", "native", status=2, says="--cpu is for the processor")


class Devices(VulkanTest):
    def test_list(self):
        text = self.halo("devices").stdout
        self.assertTrue(text.startswith(f"0  {device()}\n"), text)
        for words in ("driver      ", "kind        ", ", Vulkan 1.", "memory      ", "of a picture at a time ", "workgroups  ", " invocations, ",
                      " shared memory, ", " in one dimension\n"):
            self.assertIn(words, text)
        for feature in ("8-bit storage", "16-bit storage", "64-bit integers", "timestamps"):
            self.assertEqual(text.count(feature), text.count("driver      "), feature)


MASKS = ([], ["--staging"], ["--no-narrow-storage"], ["--vulkan-limits", "minimum"], ["--max-workgroups", "2"],
         ["--no-narrow-storage", "--vulkan-limits", "minimum", "--max-workgroups", "3", "--staging"])


class Run(VulkanTest):
    def setUp(self):
        super().setUp()
        self.write("blur.pipe", "pipe blur(src: image u8x3, sigma: f32 = 1.5 in 0.1..4) -> image u8x3\n{\n"
                                "    return u8(conv(pad(src, reflect), gaussian(sigma)) * 1.25)\n}\n")
        self.write("p.ppm", b"P6\n61 37\n255\n" + bytes(k * k * 7 % 251 for k in range(61 * 37 * 3)))

    def on_vulkan(self, *words, **more):
        return self.halo("run", *words, "--on", "vulkan", "--validate", **more)

    def test_same_bits_under_every_mask(self):
        self.halo("run", "blur.pipe", "p.ppm", "-o", "right.ppm", "--strict")
        for mask in (*MASKS, ["--tile", "16x8"], ["--tile", "512x300"], ["--no-fuse"], ["--force-border"], ["--skip", "inline"], ["--strict"]):
            self.on_vulkan("blur.pipe", "p.ppm", "-o", "o.ppm", *mask)
            self.assertEqual(self.read("o.ppm"), self.read("right.ppm"), mask)

    def test_files_and_outputs(self):
        self.on_vulkan("two.pipe", "a.pgm", "-o", "twice=t.pgm", "-o", "flag=f.npy")
        self.assertEqual(self.pixels("t.pgm")[0], [0, 20, 40, 60, 80, 100])
        self.assertTrue(self.read("f.npy").endswith(bytes([0, 1, 1, 1, 1, 1])))
        self.on_vulkan("make.pipe", "n=3", "-o", "m.pgm")
        self.assertEqual(self.pixels("m.pgm")[0], [0, 1, 2, 0, 1, 2])
        self.on_vulkan("gain.pipe", "a.pgm", "gain=5", "-o", "p.pgm", status=1, says="gain = 5 is outside its range 0..4")
        self.on_vulkan("wrong.pipe", "a.pgm", "-o", "p.pgm", status=1, says="wrong.pipe:3:12: error[E02")

    def test_many_pictures_overlap(self):
        """Each has its own result, whatever is under way; one that can't be read is left out."""
        names = []
        for number in range(7):
            names.append(f"in{number}.pgm")
            self.write(names[-1], b"P5\n%d 2\n255\n" % (number + 1) + bytes(range(number, number + 2 * (number + 1))))
        self.on_vulkan("gain.pipe", *names[:3], "broken.pgm", *names[3:], "gain=2", "-o", "out/", status=1, says="broken.pgm")
        for number in range(7):
            self.assertEqual(self.pixels(f"out/in{number}.pgm")[0], [2 * v for v in range(number, number + 2 * (number + 1))])
        self.assertFalse(self.exists("out/broken.pgm"))
        self.on_vulkan("gain.pipe", names[0], names[0], "-o", "out/", status=1, says="was written for another picture of that name")

    def test_batch_shares_a_device(self):
        self.write("lines", "grey.pipe a.pgm -o 1.pgm --on vulkan\ngain.pipe a.pgm gain=2 -o 2.pgm --on vulkan --max-workgroups 1\n"
                            "grey.pipe a.pgm -o 3.pgm\ngain.pipe a.pgm gain=3 -o 4.pgm --on vulkan --device none\n"
                            "gain.pipe b.pgm gain=1 -o 5.pgm --on vulkan\n")
        lines = self.halo("run", "--batch", "lines", status=1).stdout.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["ok", "ok", "ok", "error", "ok"])
        self.assertEqual(self.pixels("2.pgm")[0], [0, 20, 40, 60, 80, 100])
        self.assertEqual(self.pixels("5.pgm")[0], [1, 1, 1, 1, 1, 60])

    def test_device(self):
        for name in ("0", device()[:4].upper(), device()):
            self.on_vulkan("grey.pipe", "a.pgm", "-o", "o.pgm", "--device", name)
        self.on_vulkan("grey.pipe", "a.pgm", "-o", "n.pgm", "--device", "77", status=1, says=["no Vulkan device `77`", f"0 is {device()}"])
        self.assertFalse(self.exists("n.pgm"))

    def test_auto_says_what_it_chose(self):
        done = self.halo("run", "grey.pipe", "a.pgm", "-o", "o.pgm", "--on", "auto")
        self.assertRegex(done.stderr, f"^note: on the processor: .* is no graphics processor\n$|^note: on {re.escape(device())}: ")
        done = self.halo("run", "grey.pipe", "a.pgm", "-o", "o.pgm", "--on", "auto", "--device", "0")
        self.assertIn(f"note: on {device()}: ", done.stderr)
        self.halo("run", "wrong.pipe", "a.pgm", "-o", "n.pgm", "--on", "auto", "--device", "0", status=1, says="wrong.pipe:3:12: error[E02")
        self.assertEqual(self.halo("run", "grey.pipe", "a.pgm", "-o", "o.pgm", "--on", "auto", "-q").stderr, "")

    def test_times(self):
        for words in ([], ["--repeat", "3"]):
            said = self.halo("run", "blur.pipe", "p.ppm", "--on", "vulkan", "--time", *words).stderr
            self.assertRegex(said, r"^open [\d.]+ ms, compile [\d.]+ ms, pipelines [\d.]+ ms of it, upload [\d.]+ ms, device [\d.]+ ms, download [\d.]+ ms, "
                                   r"run [\d.]+ ms, [\d.]+ Mpixel/s\n$")

    def test_cache_on_disk(self):
        """In the user's folder; what isn't whole counts as nothing; --on cpu makes none."""
        env = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        self.halo("run", "blur.pipe", "p.ppm", "-o", "right.ppm", "--strict", env=env)
        self.assertFalse(self.exists("cache"))
        for content in (None, b"", b"HALOVK1 and then nothing that was ever a cache of pipelines, though it is long enough to be looked at"):
            if content is not None:
                self.write(os.path.join("cache/halo", name), content)
            self.on_vulkan("blur.pipe", "p.ppm", "-o", "o.ppm", env=env)
            self.assertEqual(self.read("o.ppm"), self.read("right.ppm"))
            [name] = os.listdir(self.path("cache/halo"))
            self.assertRegex(name, r"^vulkan-[0-9a-f]{32}-[0-9a-f]+\.cache$")
            self.assertNotEqual(self.read(os.path.join("cache/halo", name)), content)
        self.write("file", b"")
        self.on_vulkan("blur.pipe", "p.ppm", "-o", "o.ppm", env={**os.environ, "XDG_CACHE_HOME": self.path("file")})
