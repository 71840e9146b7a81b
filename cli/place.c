/* SPDX-License-Identifier: MIT
 * Where a script runs; see place.h. */
#include "cli/place.h"

#include <stdlib.h>
#include <string.h>

bool parse_on(report *r, const char *text, bool can_choose, place_kind *place)
{
    static const char *const names[] = {"cpu", "vulkan", "auto"};
    for (int i = 0; i < (can_choose ? 3 : 2); i++)
        if (strcmp(text, names[i]) == 0) {
            *place = (place_kind)i;
            return true;
        }
    report_usage(r, can_choose ? "--on is cpu, vulkan or auto, not `%s`" : "--on is cpu or vulkan, not `%s`", text);
    return false;
}

bool check_places(report *r, const option_row *rows, uint64_t given, const int *of_others, const char *fix)
{
    for (; *of_others; of_others++)
        for (const option_row *row = rows; row->id; row++)
            if (row->id == *of_others && given >> row->id & 1) {
                report_usage(r, "--%s %s", row->name, fix);
                return false;
            }
    return true;
}

/* ---- the device ------------------------------------------------------------------------------ */

/* $XDG_CACHE_HOME/halo or ~/.cache/halo, for free; NULL: nowhere. */
static char *cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *base = cache && cache[0] == '/' ? cache : home && home[0] == '/' ? home : NULL;
    if (!base)
        return NULL;
    size_t room = strlen(base) + sizeof "/.cache/halo";
    char *folder = must(malloc(room));
    snprintf(folder, room, "%s%s", base, base == cache ? "/halo" : "/.cache/halo");
    return folder;
}

static void hear(void *user, const char *text)
{
    kept_device *kept = user;
    if (kept->n_complaints++ == 0)
        snprintf(kept->complaint, sizeof kept->complaint, "%s", text);
}

static bool is_same(const kept_device *kept, const halo_device_options *o, bool validate)
{
    const halo_device_options *a = &kept->options;
    bool same_name = !a->name == !o->name && (!o->name || strcmp(a->name, o->name) == 0);
    return kept->device && same_name && a->no_storage_8bit == o->no_storage_8bit && a->no_storage_16bit == o->no_storage_16bit &&
           a->most_shared_bytes == o->most_shared_bytes && a->most_invocations == o->most_invocations &&
           a->most_workgroups == o->most_workgroups && a->most_buffer_bytes == o->most_buffer_bytes &&
           a->staging == o->staging && !a->validation == !validate;
}

halo_device *kept_device_get(kept_device *kept, const halo_device_options *options, bool validate, halo_message *error)
{
    if (is_same(kept, options, validate))
        return kept->device;
    kept_device_close(kept);
    kept->options = *options;
    kept->options.name = kept->name = options->name ? must(strdup(options->name)) : NULL;
    kept->options.cache_folder = kept->cache_folder = cache_folder();
    kept->options.validation = validate ? hear : NULL;
    kept->options.validation_user = kept;
    double start = now_ms();
    kept->device = halo_device_open(&kept->options, error);
    kept->open_ms = now_ms() - start;
    return kept->device;
}

void kept_device_close(kept_device *kept)
{
    halo_device_close(kept->device);
    free(kept->name);
    free(kept->cache_folder);
    kept->device = NULL;
    kept->name = kept->cache_folder = NULL;
}

int kept_device_complaints(kept_device *kept, report *r)
{
    size_t n = kept->n_complaints;
    kept->n_complaints = 0;
    if (n == 0)
        return EXIT_FINE;
    return report_error(r, "Vulkan's validation layer has %zu complaint%s: %s", n, n > 1 ? "s" : "", kept->complaint);
}
