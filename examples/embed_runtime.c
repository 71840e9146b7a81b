/* Compiles a script while the program runs and filters a picture with it.
 *
 *     embed_runtime SCRIPT.pipe IN.png OUT.png [name=value...]
 *
 * What a host does is in four steps: compile, ask what the pipe takes, set parameters, run. The build makes this program
 * as build/embed_runtime. */
#include <stdio.h>
#include <string.h>

#include "halo/halo.h"
#include "halo/picture.h"

static void print_signature(const halo_signature *s)
{
    fprintf(stderr, "%s: %s\n", s->name, s->doc ? s->doc : "no description");
    for (size_t i = 0; i < s->n_inputs; i++)
        fprintf(stderr, "  takes %s: %s\n", s->inputs[i].name, s->inputs[i].type);
    for (size_t i = 0; i < s->n_parameters; i++) {
        const halo_parameter *p = &s->parameters[i];
        fprintf(stderr, "  %s: %s", p->name, p->type);
        if (p->has_default)
            fprintf(stderr, " = %g", p->value[0]);
        if (p->has_range)
            fprintf(stderr, " in %g..%s%g", p->low, p->half_open ? "<" : "", p->high);
        fprintf(stderr, "%s%s\n", p->doc ? "   " : "", p->doc ? p->doc : "");
    }
}

static int set_parameters(halo_arguments *arguments, char **words, int n_words, halo_message *error)
{
    for (int i = 0; i < n_words; i++) {
        char *value = strchr(words[i], '=');
        if (value == NULL) {
            snprintf(error->text, sizeof error->text, "'%s' is not name=value", words[i]);
            return HALO_ERROR_PARAMETER;
        }
        *value++ = '\0';
        int code = halo_arguments_set_text(arguments, words[i], value, error);
        if (code != HALO_OK)
            return code;
    }
    return HALO_OK;
}

/* Sizes the result, allocates it, and runs the pipe on a few threads. */
static int filter(const halo_pipe *pipe, const halo_picture *in, const halo_arguments *arguments, halo_picture *out,
                  halo_message *error)
{
    const halo_output *o = &halo_pipe_signature(pipe)->outputs[0];
    halo_image         size = {0};
    int                code = halo_size(pipe, &in->image, arguments, &size, error);
    if (code == HALO_OK)
        code = halo_picture_new(out, o->kind, o->lanes, o->rank, size.extent);
    if (code != HALO_OK)
        return code;
    halo_threads *threads = halo_threads_new(0);
    halo_exec     exec = {0};
    if (threads != NULL)
        exec = halo_threads_exec(threads);
    code = halo_run(pipe, &in->image, arguments, &out->image, NULL, &exec, error);
    halo_threads_free(threads);
    return code;
}

/* Reads the picture as the pipe's input wants it, filters it, writes the result. */
static int process(const halo_pipe *pipe, char **argv, int argc, halo_message *error)
{
    const halo_signature *s = halo_pipe_signature(pipe);
    if (s->n_inputs != 1 || s->n_outputs != 1) {
        snprintf(error->text, sizeof error->text, "this program wants a pipe with one input and one output");
        return HALO_ERROR_NULL;
    }
    halo_picture    file = {0}, in = {0}, out = {0};
    halo_arguments *arguments = halo_arguments_new(pipe);
    int             code = arguments == NULL ? HALO_ERROR_MEMORY : set_parameters(arguments, argv + 4, argc - 4, error);
    if (code == HALO_OK)
        code = halo_picture_read(argv[2], &file, error);
    if (code == HALO_OK)
        code = halo_picture_convert(&file, s->inputs[0].kind, s->inputs[0].lanes, s->inputs[0].rank, &in, NULL, error);
    if (code == HALO_OK)
        code = filter(pipe, &in, arguments, &out, error);
    if (code == HALO_OK)
        code = halo_picture_write(argv[3], &out, NULL, NULL, error);
    halo_arguments_free(arguments);
    halo_picture_release(&out);
    halo_picture_release(&in);
    halo_picture_release(&file);
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: embed_runtime SCRIPT.pipe IN OUT [name=value...]\n");
        return 2;
    }
    int           status = 1;
    halo_program *program = halo_compile_file(argv[1], NULL);
    char         *messages = program ? halo_program_messages(program) : NULL;
    if (messages != NULL)
        fputs(messages, stderr);
    halo_free(messages);

    if (halo_program_ok(program)) {
        halo_message error = {""};
        halo_pipe   *pipe = halo_program_pipe(program, 0);
        print_signature(halo_pipe_signature(pipe));
        int code = process(pipe, argv, argc, &error);
        if (code == HALO_OK)
            status = 0;
        else
            fprintf(stderr, "embed_runtime: %s\n", error.text[0] ? error.text : halo_error_text(code));
    }
    halo_program_free(program);
    return status;
}
