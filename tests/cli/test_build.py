"""halo build: every kind of file, linked and run by a C compiler."""

import json
import os
import subprocess

import support
from support import HaloTest

MAIN = r"""
#include <stdio.h>
#include "gain.h"
int main(void)
{
    unsigned char in[6] = {0, 10, 20, 30, 40, 50}, out[6];
    halo_image src = {in, {3, 2, 1, 1, 1}, {1, 3}}, dst = {out, {3, 2, 1, 1, 1}, {1, 3}};
    gain_params params = gain_defaults;
    params.add = 1;
    int code = gain(&src, &params, &dst, NULL);
    for (int i = 0; i < 6 && code == HALO_OK; i++)
        printf("%d ", out[i]);
    return code;
}
"""


class Libraries(HaloTest):
    def link(self, *files):
        self.write("main.c", MAIN)
        done = subprocess.run([support.CC, "-Wall", "-Wextra", "-Werror", "-o", "main", "main.c", *files], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([self.path("main")], cwd=self.folder, capture_output=True, text=True, env={"LD_LIBRARY_PATH": self.folder})
        self.assertEqual((done.returncode, done.stdout), (0, "1 16 31 46 61 76 "))

    def test_static_shared_and_object(self):
        self.halo("build", "gain.pipe", "-o", "libgain.a", "--header", "gain.h")
        self.assertTrue(self.read("libgain.a").startswith(b"!<arch>\n"))
        self.link("libgain.a")
        self.halo("build", "gain.pipe", "-o", "libgain.so")
        self.link("./libgain.so")
        self.halo("build", "gain.pipe", "-o", "gain.o")
        self.link("gain.o")
        self.halo("build", "gain.pipe", "-o", "gain.s")
        self.link("gain.s")
        header = self.read("gain.h")
        self.halo("build", "gain.pipe", "-o", "gain.h")
        self.assertEqual(self.read("gain.h"), header)
        self.halo("build", "gain.pipe", "-o", "gain.ll")
        self.assertIn(b"define", self.read("gain.ll"))

    def test_the_same_bytes_every_time(self):
        self.halo("build", "gain.pipe", "-o", "1.a")
        self.halo("build", "gain.pipe", "-o", "2.a")
        self.assertEqual(self.read("1.a"), self.read("2.a"))

    def test_documentation_stays_in_its_comment(self):
        self.write("doc.pipe", "## ends */ int x; /* \\\npipe doc(src: image u8,\n    ## here */ too; /*/\n    k: i32 = 1) -> image u8\n"
                               "{ return u8(src + k) }\n")
        self.halo("build", "doc.pipe", "-o", "doc.h")
        for language in ("c", "c++"):
            done = subprocess.run([support.CC, "-x", language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "doc.h"], cwd=self.folder,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_c_compiler(self):
        self.halo("build", "gain.pipe", "-o", "libgain.so", status=1, says=["`cc`", "there is none"], env={"PATH": self.folder})
        self.assertFalse(self.exists("libgain.so"))
        self.halo("build", "gain.pipe", "-o", "libgain.a", env={"PATH": self.folder})

    def test_wrong_usage(self):
        self.halo("build", "gain.pipe", status=2, says="-o FILE.a")
        self.halo("build", "gain.pipe", "-o", "gain.dll", status=2, says=".a .so .o")
        self.halo("build", "gain.pipe", "-o", "g.a", "--layout", "src=sideways", status=1, says="NAME=planar")
        self.halo("build", "gain.pipe", "-o", "g.a", "--layout", "src=image", status=1, says=["for the processor", "--vulkan", "src=planar"])
        self.halo("build", "gain.pipe", "-o", "g.a", "--layout", "src=bgra", status=1, says="blue first is for 3 and 4")
        self.halo("build", "gain.pipe", "-o", "g.a", "--layout", "scr=planar", status=1, says="no input or output `scr`")
        self.halo("build", "pipes.pipe", "-o", "g.a", "--layout", "src=planar", status=1, says="--pipe")
        self.halo("build", "gain.pipe", "-o", "g.a", "--cpu", "z80", status=1, says="z80")
        self.halo("build", "wrong.pipe", "-o", "g.a", status=1, says="wrong.pipe:3:12")
        self.halo("build", "functions.pipe", "-o", "g.a", status=1, says="no pipe")
        self.assertFalse(self.exists("g.a"))

    def test_all_pipes_or_one(self):
        self.halo("build", "pipes.pipe", "-o", "all.a", "--header", "all.h")
        self.assertTrue(b"int one(" in self.read("all.h") and b"int other(" in self.read("all.h"))
        self.halo("build", "pipes.pipe", "-o", "all.a", "--header", "all.h", "--pipe", "other")
        self.assertFalse(b"int one(" in self.read("all.h"))
        self.assertFalse([name for name in os.listdir(self.folder) if "tmp" in name])


class Vulkan(HaloTest):
    """Libraries and modules for Vulkan are made on any machine; what runs them is tested in tests/embed."""

    def test_static_shared_object_and_header(self):
        self.halo("build", "gain.pipe", "--vulkan", "-o", "gain.a", "--header", "gain_vulkan.h")
        for name in ("gain.so", "gain.o"):
            self.halo("build", "gain.pipe", "--vulkan", "-o", name)
            listed = subprocess.run(["nm", "-D" if name.endswith(".so") else "-g", self.path(name)], capture_output=True, text=True).stdout
            self.assertIn("gain_vulkan_record_part", listed)
        header = self.read("gain_vulkan.h")
        self.assertIn(b"int gain_vulkan_record(const gain_vulkan *made, VkCommandBuffer commands, const halo_vulkan_image *src", header)
        self.halo("build", "gain.pipe", "--vulkan", "-o", "gain_vulkan.h")
        self.assertEqual(self.read("gain_vulkan.h"), header)

    def test_the_same_bytes_every_time(self):
        for name in ("1.a", "2.a"):
            self.halo("build", "gain.pipe", "--vulkan", "-o", name)
        self.assertEqual(self.read("1.a"), self.read("2.a"))

    def test_modules(self):
        self.halo("build", "gain.pipe", "-o", "gain.spv", "--json", "gain.json")
        self.assertEqual(self.read("gain.spv")[:4], b"\x03\x02\x23\x07")
        said = json.loads(self.read("gain.json"))
        self.assertEqual([kernel["spirv"] for kernel in said["kernels"]], ["gain.spv"])
        self.assertEqual(said["kernels"][0]["features"], ["storageBuffer8BitAccess"])
        self.halo("build", "pipes.pipe", "-o", "pipes.spv", status=1, says="--pipe")
        self.halo("build", "two.pipe", "-o", "two.spv", "--no-fuse", "--json", "two.json")
        said = json.loads(self.read("two.json"))
        self.assertEqual([kernel["spirv"] for kernel in said["kernels"]], ["two.1.spv", "two.2.spv"])
        self.assertTrue(self.exists("two.1.spv") and self.exists("two.2.spv") and not self.exists("two.3.spv") and not self.exists("two.spv"))

    def test_wrong_usage(self):
        self.halo("build", "gain.pipe", "--vulkan", "-o", "g.ll", status=2, says=".spv")
        self.halo("build", "gain.pipe", "--vulkan", "-o", "g.a", "--cpu", "native", status=2, says="without --vulkan")
        self.halo("build", "gain.pipe", "-o", "g.a", "--json", "g.json", status=2, says="-o FILE.spv")
        self.halo("build", "gain.pipe", "-o", "g.spv", "--header", "g.h", status=2, says="--vulkan -o FILE.a")
        self.halo("build", "gain.pipe", "--vulkan", "-o", "g.a", "--layout", "src=sideways", status=1, says="NAME=sampled")
        self.halo("build", "gain.pipe", "--vulkan", "-o", "g.a", "--layout", "out=sampled", status=1, says="E0552")
        self.assertFalse(self.exists("g.a") or self.exists("g.ll") or self.exists("g.spv"))

    def test_more_pictures_than_can_be_bound(self):
        for n in (94, 96):
            inputs, total = ", ".join(f"a{i}: image f32" for i in range(n)), " + ".join(f"a{i}[x, y]" for i in range(n))
            self.write(f"{n}.pipe", f"pipe many({inputs}) -> image f32 {{\n    out[x, y] = {total}\n    return out\n}}\n")
        self.halo("build", "94.pipe", "--vulkan", "-o", "many.a")
        self.halo("build", "96.pipe", "--vulkan", "-o", "more.a", status=1, says=["96.pipe:1:6: error[E0554]", "98", "96"])

    def test_names_that_its_header_uses(self):
        self.write("n.pipe", "pipe p(commands: image u8) -> image u8 { return commands }\n")
        self.halo("build", "n.pipe", "--vulkan", "-o", "n.a", status=1, says=["n.pipe:1:8: error[E0553]", "`commands`"])
        self.halo("build", "n.pipe", "-o", "n.a")


class Names(HaloTest):
    def refuse(self, script, line, column, words):
        self.write("n.pipe", script)
        for name in ("n.a", "n.h"):
            self.halo("build", "n.pipe", "-o", name, status=1, says=[f"n.pipe:{line}:{column}: error[E0553]", words])
            self.assertFalse(self.exists(name))
        self.halo("check", "n.pipe")

    def test_what_c_cannot_have(self):
        self.refuse("pipe int(src: image u8) -> image u8 { return src }\n", 1, 6, "`int`")
        self.refuse("pipe main(src: image u8) -> image u8 { return src }\n", 1, 6, "`main`")
        self.refuse("pipe p(src: image u8,\n       class: i32 = 1) -> image u8 { return u8(src + class) }\n", 2, 8, "`class`")
        self.refuse("pipe p(template: image u8) -> image u8 { return template }\n", 1, 8, "`template`")

    def test_what_the_header_uses(self):
        self.refuse("pipe p(exec: image u8) -> image u8 { return exec }\n", 1, 8, "`exec`")
        self.refuse("pipe p(a: image u8, a_part: image u8) -> image u8 { return a }\n", 1, 21, "`a_part`")
        self.refuse("pipe p(a: image u8) -> image u8 { return a }\npipe p_size(a: image u8) -> image u8 { return a }\n", 2, 6, "`p_size`")
        self.halo("build", "n.pipe", "-o", "n.a", "--pipe", "p_size")
