"""Vulkan from the command: devices, and the messages of machines that lack something. What needs a device skips without one."""

import os
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


class Devices(VulkanTest):
    def test_list(self):
        text = self.halo("devices").stdout
        self.assertTrue(text.startswith(f"0  {device()}\n"), text)
        for words in ("driver      ", "kind        ", ", Vulkan 1.", "memory      ", "pictures up to ", "workgroups  ", " invocations, ",
                      " shared memory, ", " in one dimension\n"):
            self.assertIn(words, text)
        for feature in ("8-bit storage", "16-bit storage", "64-bit integers", "timestamps"):
            self.assertEqual(text.count(feature), text.count("driver      "), feature)
