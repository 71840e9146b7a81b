/* SPDX-License-Identifier: MIT
 * Messages, and the small functions of halo/types.h that belong to no other file. */
#include "runtime/message.h"

#include "lang/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cut never leaves half a UTF-8 character. */
static void trim_character(char *text)
{
    size_t n = strlen(text), start = n;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (n - (start - 1) < wanted)
        text[start - 1] = '\0';
}

static void print_at(char *at, size_t room, const char *format, va_list args)
{
    int n = vsnprintf(at, room, format, args);
    if (n >= 0 && (size_t)n >= room)
        trim_character(at);
}

bool message_fail(halo_message *message, const char *format, ...)
{
    if (message) {
        va_list args;
        va_start(args, format);
        print_at(message->text, sizeof message->text, format, args);
        va_end(args);
    }
    return false;
}

void message_add(halo_message *message, const char *format, ...)
{
    if (!message)
        return;
    size_t used = strlen(message->text);
    if (used > 0 && used + 3 < sizeof message->text) {
        memcpy(message->text + used, "; ", 3);
        used += 2;
    }
    va_list args;
    va_start(args, format);
    print_at(message->text + used, sizeof message->text - used, format, args);
    va_end(args);
}

void message_clear(halo_message *message)
{
    if (message)
        message->text[0] = '\0';
}

static const struct { const char *name; int32_t n_bytes; } kinds[] = {
    {"bool", 1}, {"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f16", 2}, {"f32", 4}};

static bool kind_is_known(halo_kind kind)
{
    return (unsigned)kind < sizeof kinds / sizeof *kinds;
}

const char *halo_kind_name(halo_kind kind) { return kind_is_known(kind) ? kinds[kind].name : "?"; }
int32_t     halo_kind_bytes(halo_kind kind) { return kind_is_known(kind) ? kinds[kind].n_bytes : 0; }

const char *halo_nearest_name(const char *word, const char *const *names, size_t n_names)
{
    return nearest_name(word, names, n_names);
}

void halo_free(void *memory) { free(memory); }
