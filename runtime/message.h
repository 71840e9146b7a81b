/* SPDX-License-Identifier: MIT
 * Saying what went wrong: printf into a caller's message. */
#ifndef HALO_RUNTIME_MESSAGE_H
#define HALO_RUNTIME_MESSAGE_H

#include "halo/types.h"

#include <stdbool.h>

/* Sets `message` (which may be NULL) and returns false, so that a check can end with `return message_fail(...)`. */
bool message_fail(halo_message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds to what the message says, after "; " when it says something. */
void message_add(halo_message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_clear(halo_message *message);

#endif
