/* SPDX-License-Identifier: MIT
 * Loads a script: parses it, its imports (each file once) and the prelude, and says which item a name means in which file.
 *
 * An import brings in the items that stand in that file, not what it imports itself. A file's own items hide imported ones,
 * and both hide the prelude's. */
#include <string.h>

#include "frontend/builder.h"
#include "lang/prelude.h"

static bool in_space(const item *i, name_space space)
{
    return space == NAMES_values ? i->kind == ITEM_CONST : i->kind == ITEM_FN || i->kind == ITEM_PIPE;
}

static const item *own_item(const module *m, const char *name, name_space space)
{
    for (uint32_t k = 0; k < m->file->items.count; k++) {
        const item *i = m->file->items.items[k];
        if (i->name == name && in_space(i, space))
            return i;
    }
    return NULL;
}

const item *find_item(const script *s, const module *from, const char *name, name_space space, const module **home)
{
    const item *found = own_item(from, name, space);
    *home = from;
    for (uint32_t k = 0; !found && k < from->imports.count; k++)
        found = own_item(*home = from->imports.items[k].target, name, space);
    for (uint32_t k = 0; !found && k < s->prelude.count; k++)
        found = own_item(*home = s->prelude.items[k], name, space);
    return found;
}

/* ---- loading ------------------------------------------------------------------------------------ */

static module *add_module(script *s, const char *name, const char *text, size_t n_bytes, bool is_prelude)
{
    module *m = ARENA_NEW(s->memory, module);
    m->name = name;
    m->is_prelude = is_prelude;
    m->source = diags_add_source(s->d, name, text, n_bytes);
    m->file = parse_file(s->memory, s->names, s->d, m->source);
    if (is_prelude)
        LIST_PUSH(s->memory, s->prelude, m);
    else
        LIST_PUSH(s->memory, s->modules, m);
    return m;
}

static module *loaded_module(const script *s, const char *name)
{
    for (uint32_t k = 0; k < s->modules.count; k++)
        if (strcmp(s->modules.items[k]->name, name) == 0)
            return s->modules.items[k];
    return NULL;
}

static void load_import(script *s, module *from, const item *i)
{
    const char *name = i->name;
    size_t n_bytes = 0;
    const char *text = s->lookup ? s->lookup(s->user, from->name, i->name, &name, &n_bytes) : NULL;
    if (!text) {
        diag_add(s->d, DIAG_E0205, i->where, "there is no file \"%s\" to import", i->name);
        diag_help(s->d, s->lookup ? "the path is relative to the file that imports it"
                                  : "this script was compiled without a way to find other files");
        return;
    }
    module *target = loaded_module(s, name);
    if (!target)
        target = add_module(s, arena_string(s->memory, name, strlen(name)), text, n_bytes, false);
    for (uint32_t k = 0; k < from->imports.count; k++)
        if (from->imports.items[k].target == target)
            return;
    LIST_PUSH(s->memory, from->imports, ((import_edge){ target, i->where }));
}

/* Two items of one name: in one file, or from two imports (unless the file has its own, which hides both). */
static void check_doubles(script *s, const module *m)
{
    for (uint32_t k = 0; k < m->file->items.count; k++) {
        const item *i = m->file->items.items[k];
        name_space space = i->kind == ITEM_CONST ? NAMES_values : NAMES_functions;
        const item *first = i->kind == ITEM_IMPORT ? i : own_item(m, i->name, space);
        if (first != i) {
            uint32_t line, column;
            diag_position(s->d, first->where, &line, &column);
            diag_add(s->d, DIAG_E0203, i->name_where, "`%s` is defined twice", i->name);
            diag_note(s->d, "it was defined first in line %u", line);
        }
    }
    for (uint32_t k = 1; k < m->imports.count; k++) {
        const module *later = m->imports.items[k].target;
        for (uint32_t n = 0; n < later->file->items.count; n++) {
            const item *i = later->file->items.items[n];
            name_space space = i->kind == ITEM_CONST ? NAMES_values : NAMES_functions;
            for (uint32_t e = 0; e < k && i->kind != ITEM_IMPORT; e++) {
                const module *earlier = m->imports.items[e].target;
                if (earlier == later || later == m || earlier == m || own_item(m, i->name, space))
                    continue;
                if (own_item(earlier, i->name, space)) {
                    diag_add(s->d, DIAG_E0206, m->imports.items[k].where, "`%s` comes from two imports: %s and %s",
                             i->name, earlier->name, later->name);
                    diag_help(s->d, "rename one of them");
                }
            }
        }
    }
}

script *script_load(arena *memory, interner *names, diags *d, const char *name, const char *text, size_t n_bytes,
                    import_lookup lookup, void *user)
{
    script *s = ARENA_NEW(memory, script);
    s->memory = memory;
    s->names = names;
    s->d = d;
    s->lookup = lookup;
    s->user = user;
    add_module(s, name, text, n_bytes, false);
    for (uint32_t k = 0; k < s->modules.count; k++) {          /* grows as imports are found: breadth first, each once */
        module *m = s->modules.items[k];
        for (uint32_t n = 0; n < m->file->items.count; n++)
            if (m->file->items.items[n]->kind == ITEM_IMPORT)
                load_import(s, m, m->file->items.items[n]);
    }
    for (size_t k = 0; k < n_prelude_scripts; k++)
        add_module(s, prelude_scripts[k].name, prelude_scripts[k].text, strlen(prelude_scripts[k].text), true);
    s->n_errors = d->n_errors;
    return s;
}

void check_names(script *s)
{
    if (s->names_checked)
        return;
    uint32_t n_errors = s->d->n_errors;
    s->names_checked = true;
    for (uint32_t k = 0; k < s->modules.count; k++)
        check_doubles(s, s->modules.items[k]);
    s->has_doubles = s->d->n_errors > n_errors;
}

/* ---- questions -------------------------------------------------------------------------------------- */

const file *script_file(const script *s)
{
    return s->modules.items[0]->file;
}

const item *script_pipe(const script *s, uint32_t which)
{
    const file *f = script_file(s);
    for (uint32_t k = 0; k < f->items.count; k++)
        if (f->items.items[k]->kind == ITEM_PIPE && which-- == 0)
            return f->items.items[k];
    return NULL;
}

uint32_t script_pipe_count(const script *s)
{
    uint32_t count = 0;
    while (script_pipe(s, count))
        count++;
    return count;
}
