/* SPDX-License-Identifier: MIT
 * Runs passes.def in order. The verifier looks at the IR after every pass, so a wrong pass is named at once; `reparse` replaces
 * the IR by its reread text after every pass, so what the text can't say can't be relied on. */
#include "lowering/pass.h"

#include <string.h>

static const pass_info passes[PASS_COUNT] = {
#define PASS(name, kind, purpose) [PASS_##name] = { #name, PASS_KIND_##kind, pass_##name, purpose },
#include "lowering/passes.def"
#undef PASS
};

const pass_info *pass_get(pass_id id)
{
    return &passes[id];
}

pass_id pass_find(const char *name)
{
    for (int id = 0; id < PASS_COUNT; id++)
        if (strcmp(passes[id].name, name) == 0)
            return (pass_id)id;
    return PASS_COUNT;
}

static bool verify_after(const tensor_pipe *p, const char *pass, diags *d)
{
    text problems = { 0 };
    if (tensor_verify(p, &problems))
        return true;
    text_add(&problems, "", 1);
    diag_add(d, DIAG_E0901, p->where, "the pass `%s` left the IR of `%s` unsound; this is a fault of the compiler", pass, p->name);
    diag_note(d, "%s", problems.failed ? "out of memory" : problems.bytes);
    text_free(&problems);
    return false;
}

/* The text has no places in the source: they come from the old IR, whose stages, parameters and checks are the same. */
static void copy_places(tensor_pipe *to, const tensor_pipe *from)
{
    to->where = from->where;
    for (uint32_t s = 1; s < to->stages.count; s++)
        stage_at(to, s)->where = stage_at(from, s)->where;
    for (uint32_t k = 0; k < to->params.count; k++)
        to->params.items[k].where = from->params.items[k].where;
    for (uint32_t k = 0; k < to->checks.count; k++)
        to->checks.items[k].where = from->checks.items[k].where;
}

static bool reread(tensor_pipe **p, const char *pass, diags *d)
{
    text printed = { 0 };
    tensor_print(*p, &printed);
    if (printed.failed)
        return false;
    uint32_t source = diags_add_source(d, pass, printed.bytes, printed.count);
    text_free(&printed);
    tensor_pipe *again = tensor_parse((*p)->memory, d, source);
    if (!again)
        return false;
    copy_places(again, *p);
    *p = again;
    return true;
}

static void dump_after(const tensor_pipe *p, pass_id id, bool changed, text *out)
{
    text_printf(out, "; after %s (%d/%d), %s\n", passes[id].name, id + 1, PASS_COUNT, changed ? "changed" : "unchanged");
    if (changed)
        tensor_print(p, out);
}

bool passes_run(tensor_pipe **p, const pass_options *options, diags *d)
{
    for (int id = 0; id < PASS_COUNT; id++) {
        bool exact = passes[id].kind == PASS_KIND_exact;
        if (exact && options->only_define)
            break;
        if (!exact || !options->skip[id]) {
            bool changed = passes[id].run(*p);
            if (options->changed && changed)
                options->changed[id] = true;
            if (options->dump)
                dump_after(*p, (pass_id)id, changed, options->dump);
            if (!options->no_verify && !verify_after(*p, passes[id].name, d))
                return false;
            if (options->reparse && !reread(p, passes[id].name, d))
                return false;
        }
        if ((pass_id)id == options->stop_after)
            break;
    }
    return true;
}
