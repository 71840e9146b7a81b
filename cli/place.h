/* SPDX-License-Identifier: MIT
 * Where a script runs or is compiled for: --on, --device, and the device that runs share. */
#ifndef HALO_CLI_PLACE_H
#define HALO_CLI_PLACE_H

#include "cli/cli.h"

typedef enum place_kind { PLACE_CPU, PLACE_VULKAN, PLACE_AUTO } place_kind;

/* --on: "cpu" or "vulkan", and "auto" where the command can choose; false was reported. */
bool parse_on(report *r, const char *text, bool can_choose, place_kind *place);
/* Options that were given (a bit per id) and are the other place's, ids ending with 0: wrong usage that names the first. */
bool check_places(report *r, const option_row *rows, uint64_t given, const int *of_others, const char *fix);

/* A device that stays open from one run of a process to the next, as long as they ask for the same. */
typedef struct kept_device {
    halo_device        *device;
    halo_device_options options;
    char               *name, *cache_folder;
    double              open_ms;                 /* what opening took; 0 once that was said */
    size_t              n_complaints;            /* of the validation layer */
    char                complaint[HALO_MESSAGE_BYTES];      /* the first */
} kept_device;

/* NULL: see the message. With the user's cache of pipelines; `validate`: what the validation layer says is counted. */
halo_device *kept_device_get(kept_device *kept, const halo_device_options *options, bool validate, halo_message *error);
/* What the validation layer said stays, with what it says of closing. */
void         kept_device_close(kept_device *kept);
/* An exit status; what was said is forgotten. */
int          kept_device_complaints(kept_device *kept, report *r);

#endif
