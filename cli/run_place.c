/* SPDX-License-Identifier: MIT
 * halo run: the script compiled for the place where it runs, which --on auto chooses here. */
#include "cli/run.h"

#include <string.h>

static halo_program *open_on_cpu(const run_line *line)
{
    return open_script(line->report, line->script, &line->compile, !line->no_tune && line->compile.engine == HALO_ENGINE_CPU);
}

static halo_program *open_on_device(const run_line *line, report *r, halo_device *device)
{
    halo_options compile = line->compile;
    compile.engine = HALO_ENGINE_VULKAN;
    compile.device = device;
    return open_script(r, line->script, &compile, false);
}

static halo_program *open_on_vulkan(const run_line *line)
{
    halo_message error;
    halo_device *device = kept_device_get(line->kept, &line->device, line->validate, &error);
    if (device)
        return open_on_device(line, line->report, device);
    report_error(line->report, "%s; --on cpu runs it on the processor", error.text);
    return NULL;
}

/* A device that is made of processors is slower than they are; one that was asked for by name is taken all the same. */
static const char *why_not(const run_line *line, halo_device *device)
{
    bool is_cpu = strcmp(halo_device_about(device)->kind, "cpu") == 0;
    return is_cpu && !line->device.name ? "is no graphics processor" : NULL;
}

/* What a script can't do on the device it may do on the processor; what is wrong with it anyway is said once, by that. */
static halo_program *open_on_either(const run_line *line, bool *on_device)
{
    halo_message error;
    halo_device *device = kept_device_get(line->kept, &line->device, line->validate, &error);
    const char *reason = device ? why_not(line, device) : NULL;
    if (!device) {
        report_note(line->report, "on the processor: %s", error.text);
    } else if (reason) {
        report_note(line->report, "on the processor: %s %s", halo_device_about(device)->name, reason);
    } else {
        report trial = {.capture = true};
        halo_program *program = open_on_device(line, &trial, device);
        if (program) {
            report_note(line->report, "on %s: a graphics processor, or the one that was asked for",
                        halo_device_about(device)->name);
            report_later(line->report, program, 0);
            *on_device = true;
            return program;
        }
        program = open_on_cpu(line);
        if (program)
            report_note(line->report, "on the processor: %.*s", (int)strcspn(trial.text, "\n"), trial.text);
        return program;
    }
    return open_on_cpu(line);
}

halo_program *open_in_place(const run_line *line, bool *on_device)
{
    *on_device = line->on == PLACE_VULKAN;
    switch (line->on) {
    case PLACE_VULKAN: return open_on_vulkan(line);
    case PLACE_AUTO:   return open_on_either(line, on_device);
    default:           return open_on_cpu(line);
    }
}
