/* checkpoint_file.c - checkpoints are written, and refused where they are of something else. */
#include "solver/checkpoint_file.h"

#include "base/event.h"
#include "base/sink.h"
#include "io/io.h"

#include <stdio.h>

enum { META = 6, PRINT_TEXT = 20 };
static const char FORMAT_VERSION[] = "2";

static void write_print(uint64_t print, char text[PRINT_TEXT])
{
    snprintf(text, PRINT_TEXT, "%016" PRIx64, print);
}

mgvi_tensor mgvi_checkpoint_array(mgvi_tensor_type type, int64_t count, const void *data,
                                  const char *format, int64_t number)
{
    mgvi_tensor t = {.type = type, .rank = 1, .shape = {count}, .data = data};
    snprintf(t.name, sizeof t.name, format, (long long)number);
    return t;
}

mgv_status mgvi_checkpoint_put(mgv_ctx *ctx, const mgvi_checkpoint_id *id,
                               const mgvi_tensor *tensors, int count, mgvi_checkpoint_goal *to)
{
    char print[PRINT_TEXT];
    write_print(id->print, print);
    const mgvi_meta meta[META] = {{"format", "margrave checkpoint"},
                                  {"format_version", FORMAT_VERSION},
                                  {"margrave", mgv_version()},
                                  {"command", id->command},
                                  {"solver", id->solver},
                                  {"fingerprint", print}};
    return to->path ? mgvi_tensors_write(ctx, to->path, tensors, count, meta, META)
                    : mgvi_tensors_pack(ctx, tensors, count, meta, META, &to->bytes, &to->size);
}

mgv_status mgvi_checkpoint_put_bytes(mgv_ctx *ctx, const void *bytes, size_t size,
                                     mgvi_checkpoint_goal *to)
{
    mgvi_sink *sink;
    to->size = size;
    if (!to->path)
        return (to->bytes = mgvi_dup(ctx, bytes, size, 1)) ? MGV_OK : MGV_E_MEMORY;
    MGVI_TRY(mgvi_sink_open(ctx, to->path, &sink));
    mgvi_sink_write(sink, bytes, size);
    return mgvi_sink_close(sink, true);
}

bool mgvi_checkpoint_lost(mgv_ctx *ctx, mgv_status *st)
{
    if (*st != MGV_E_IO)
        return false;
    mgvi_log(ctx, MGV_WARNING, "the checkpoint is not saved, and the run goes on: %s", ctx->error);
    *st = MGV_OK;
    return true;
}

/* `wrong` and, after what the file has for `key`, what to do. */
static mgv_status need(mgv_ctx *ctx, const char *path, const mgvi_tensors *file, const char *key,
                       const char *want, const char *wrong, const char *cure)
{
    const char *got = mgvi_tensors_meta(file, key);
    if (mgvi_tensors_meta_is(file, key, want))
        return MGV_OK;
    return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: %s (got %s '%.60s', not '%.60s'); %s", path, wrong, key,
                     got ? got : "missing", want, cure);
}

/* Of this format and command. */
static mgv_status is_of(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                        const char *command)
{
    MGVI_TRY(need(ctx, path, file, "format", "margrave checkpoint", "this is not a checkpoint",
                  "resume from a file that --checkpoint has written"));
    MGVI_TRY(need(ctx, path, file, "format_version", FORMAT_VERSION,
                  "the checkpoint is of another version",
                  "resume with the build of margrave that has written it"));
    return need(ctx, path, file, "command", command, "the checkpoint is of another command",
                "resume with the command that has written it");
}

mgv_status mgvi_checkpoint_fits(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                                const mgvi_checkpoint_id *id)
{
    char print[PRINT_TEXT];
    write_print(id->print, print);
    MGVI_TRY(need(ctx, path, file, "solver", id->solver, "the checkpoint is of another solver",
                  "resume with the data and settings that it was written with"));
    return need(ctx, path, file, "fingerprint", print,
                "the checkpoint is of other data, settings, tolerance or seed",
                "resume with those that it was written with");
}

mgv_status mgvi_checkpoint_take(mgv_ctx *ctx, const mgvi_checkpoint_heir *heir, const char *path,
                                const void *bytes, size_t size)
{
    mgvi_source source = {.bytes = bytes, .size = size};
    mgvi_tensors *file = NULL;
    if (!bytes)
        MGVI_TRY(mgvi_source_open(ctx, path, NULL, &source));
    mgv_status st = mgvi_tensors_parse(ctx, path, source.bytes, source.size, &file);
    if (st == MGV_OK)
        st = is_of(ctx, path, file, heir->id.command);
    if (st == MGV_OK && heir->id.solver)
        st = mgvi_checkpoint_fits(ctx, path, file, &heir->id);
    if (st == MGV_OK)
        st = heir->take(heir->owner, path, file);
    mgvi_tensors_free(ctx, file);
    if (!bytes)
        mgvi_source_close(ctx, &source);
    return st;
}

mgv_status mgvi_checkpoint_copy(mgv_ctx *ctx, const mgvi_tensors *file, const char *format,
                                int64_t number, mgvi_tensor_type type, int64_t count, void **out,
                                size_t *size)
{
    char name[64];
    const void *data;
    snprintf(name, sizeof name, format, (long long)number);
    const mgvi_tensor *t = mgvi_tensors_find(file, name);
    if (!t)
        return MGV_OK;
    MGVI_TRY(mgvi_tensors_need(ctx, file, name, type, 1, count, -1, &data));
    *size = (size_t)t->shape[0];
    *out = mgvi_dup(ctx, data, *size, mgvi_tensor_type_size(type));
    return *out ? MGV_OK : MGV_E_MEMORY;
}
