/* SPDX-License-Identifier: MIT
 * halo devices: the Vulkan devices of this machine, what they can do, and what they lack. */
#include "cli/cli.h"

static const option_row rows[] = {{0}};

static void help(void)
{
    options_help(rows, "halo devices",
                 "Lists the Vulkan devices that `halo run --on vulkan --device N|NAME` can use: number, name, driver, limits, features,\n"
                 "and what a device lacks. The first discrete one, or integrated, virtual, cpu, is taken where none is named.",
                 "  halo devices\n");
}

static void print_bytes(const char *before, uint64_t bytes, const char *after)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    double n = (double)bytes;
    for (; n >= 1024 && unit < 4; unit++)
        n /= 1024;
    printf("%s%.*f %s%s", before, n < 10 && n > (double)(int)n ? 1 : 0, n, units[unit], after);
}

static void print_features(const halo_device_info *d)
{
    const struct { const char *name; int has; } features[] = {{"8-bit storage", d->storage_8bit},
                                                              {"16-bit storage", d->storage_16bit}, {"64-bit integers", d->int64}, {"timestamps", d->timestamps}};
    for (int has = 1; has >= 0; has--) {
        const char *between = has ? "\n   features    " : "\n   without     ";
        for (size_t i = 0; i < sizeof features / sizeof *features; i++)
            if (!features[i].has == !has) {
                printf("%s%s", between, features[i].name);
                between = ", ";
            }
    }
    printf("\n");
}

static void print_device(size_t number, const halo_device_info *d)
{
    printf("%zu  %s\n   driver      %s\n   kind        %s, Vulkan %d.%d.%d\n", number, d->name, d->driver, d->kind,
           d->api[0], d->api[1], d->api[2]);
    print_bytes("   memory      ", d->memory_bytes, ", ");
    print_bytes("of a picture at a time ", d->buffer_bytes, "\n");
    printf("   workgroups  %u invocations, ", d->invocations);
    print_bytes("", d->shared_bytes, " shared memory, ");
    printf("%u in one dimension", d->workgroups);
    print_features(d);
    if (d->missing)
        printf("   can't run pipes: it lacks %s\n", d->missing);
}

int command_devices(int argc, char **argv)
{
    report r = {0};
    options o;
    const char *value;
    int rest, id;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        if (id == OPTION_HELP)
            return help(), EXIT_FINE;
        if (id == OPTION_BAD)
            return EXIT_USAGE;
    }
    if (rest < argc)
        return report_usage(&r, "devices takes nothing; `halo devices --help` says what it lists");
    halo_message error;
    halo_devices *devices = halo_devices_new(&error);
    if (!devices)
        return report_error(&r, "%s", error.text);
    size_t n = halo_devices_count(devices);
    for (size_t i = 0; i < n; i++)
        print_device(i, halo_devices_at(devices, i));
    int status = n > 0 ? EXIT_FINE : report_error(&r, "this machine has no Vulkan device; scripts run on the processor (--on cpu)");
    halo_devices_free(devices);
    return status;
}
