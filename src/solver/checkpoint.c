/* checkpoint.c - the whole state of a run in a file of tensors, continued to the same bits. */
#include "solver/classes/family.h"

#include "base/hash.h"
#include "base/sink.h"
#include "io/io.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };

/* The solver's own settings, by their texts. */
static uint64_t mix_settings(uint64_t hash, const mgv_solver *solver)
{
    char name[64], value[MGVI_TEXT_MAX];
    for (int k = 0; mgvi_solver_setting(solver->run.ops, k, name); k++)
        if (mgvi_settings_get(solver->run.ctx, &solver->settings, name, value, sizeof value) ==
            MGV_OK)
            hash = mgvi_hash(hash, value, strlen(value));
    return hash;
}

/* Over what decides the steps: formula, solver, seed, shape, labels and a sample of A. */
static void fingerprint(const mgv_solver *solver, char text[MGVI_FINGERPRINT])
{
    const mgv_problem *p = solver->run.problem;
    const mgv_settings *s = &solver->settings;
    uint64_t h = MGVI_HASH_BEGIN;
    h = mgvi_hash(h, p->formula, strlen(p->formula));
    h = mgvi_hash(h, mgvi_scale_name(s->scale), strlen(mgvi_scale_name(s->scale)));
    h = mgvi_hash(h, &s->seed, sizeof s->seed);
    h = mgvi_hash(h, &s->shrink, sizeof s->shrink);
    h = mgvi_hash(h, &s->tol, sizeof s->tol); /* it decides when certificates are taken */
    h = mix_settings(h, solver);
    h = mgvi_problem_hash(p, h);
    snprintf(text, MGVI_FINGERPRINT, "%016" PRIx64, h);
}

void mgvi_checkpoint_meta(const mgv_solver *solver, mgvi_checkpoint_words *words,
                          mgvi_meta meta[MGVI_CHECKPOINT_META])
{
    fingerprint(solver, words->fingerprint);
    snprintf(words->version, sizeof words->version, "%d", FORMAT_VERSION);
    meta[0] = (mgvi_meta){"format", "margrave checkpoint"};
    meta[1] = (mgvi_meta){"format_version", words->version};
    meta[2] = (mgvi_meta){"margrave", mgv_version()};
    meta[3] = (mgvi_meta){"solver", solver->run.ops->name};
    meta[4] = (mgvi_meta){"fingerprint", words->fingerprint};
}

/* Where the state of one run goes: a file, or bytes in memory. */
typedef struct goal {
    const char *path; /* NULL: bytes */
    void *bytes;
    size_t size;
} goal;

/* A run that was cut: the state of its last whole iteration that was kept (limits.c). */
static mgv_status put_whole(const mgv_solver *solver, goal *to)
{
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_sink *sink;
    if (!solver->whole.bytes)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the limit has ended the run within an iteration, and no whole state was "
                         "kept; set `checkpoint` before the run");
    to->size = solver->whole.size;
    if (!to->path)
        return (to->bytes = mgvi_dup(ctx, solver->whole.bytes, to->size, 1)) ? MGV_OK
                                                                             : MGV_E_MEMORY;
    MGVI_TRY(mgvi_sink_open(ctx, to->path, &sink));
    mgvi_sink_write(sink, solver->whole.bytes, to->size);
    return mgvi_sink_close(sink, true);
}

static mgv_status put(const mgv_solver *solver, goal *to)
{
    const mgvi_run *run = &solver->run;
    if (solver->cut)
        return put_whole(solver, to);
    mgvi_checkpoint_words words;
    mgvi_meta meta[MGVI_CHECKPOINT_META];
    mgvi_checkpoint_meta(solver, &words, meta);
    mgvi_driver_memory memory = solver->memory;
    memory.iteration = run->iteration;
    memory.rng = run->rng;
    memory.touched = mgvi_driver_touched(solver);
    memory.streamed = mgvi_driver_streamed(solver);
    memory.worked += solver->run.work;
    memory.tried = solver->tried;
    mgvi_tensor *kept = mgvi_alloc(run->ctx, (size_t)run->kept_count, sizeof *kept);
    if (!kept)
        return MGV_E_MEMORY;
    for (int i = 0; i < run->kept_count; i++) {
        const mgvi_kept *from = &run->kept[i];
        kept[i] = from->tensor;
        if (from->vec)
            kept[i].data = mgvi_vec_host(from->vec);
        else if (kept[i].data == &solver->memory)
            kept[i].data = &memory;
    }
    const mgv_status st = to->path ? mgvi_tensors_write(run->ctx, to->path, kept, run->kept_count,
                                                        meta, MGVI_CHECKPOINT_META)
                                   : mgvi_tensors_pack(run->ctx, kept, run->kept_count, meta,
                                                       MGVI_CHECKPOINT_META, &to->bytes, &to->size);
    mgvi_release(run->ctx, kept);
    return st;
}

mgv_status mgvi_checkpoint_write(const mgv_solver *solver, const char *path)
{
    goal to = {.path = path};
    return solver->family ? mgvi_family_write(solver, solver->run.ctx, path) : put(solver, &to);
}

mgv_status mgvi_checkpoint_keep(mgv_solver *solver, mgv_ctx *ctx)
{
    const char *path = solver->settings.checkpoint;
    const mgv_status st =
        solver->family ? mgvi_family_write(solver, ctx, path) : mgvi_checkpoint_write(solver, path);
    solver->unsaved = st == MGV_E_IO;
    if (!solver->unsaved)
        return st;
    mgvi_log(ctx, MGV_WARNING, "the checkpoint is not saved, and the run goes on: %s", ctx->error);
    return MGV_OK;
}

mgv_status mgvi_checkpoint_pack(const mgv_solver *solver, void **bytes, size_t *size)
{
    goal to = {.path = NULL};
    const mgv_status st = put(solver, &to);
    *bytes = to.bytes;
    *size = to.size;
    return st;
}

static mgv_status need_meta(mgv_ctx *ctx, const mgvi_tensors *file, const char *path,
                            const char *key, const char *want, const char *sentence)
{
    const char *got = mgvi_tensors_meta(file, key);
    if (mgvi_tensors_meta_is(file, key, want))
        return MGV_OK;
    return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: %s (%s is '%.60s', expected '%.60s')", path, sentence,
                     key, got ? got : "missing", want);
}

/* Whether the file is a checkpoint of this solver on this problem. */
static mgv_status check_file(mgv_solver *solver, const char *path, const mgvi_tensors *file)
{
    mgvi_run *run = &solver->run;
    char print[MGVI_FINGERPRINT], version[8];
    snprintf(version, sizeof version, "%d", FORMAT_VERSION);
    MGVI_TRY(need_meta(run->ctx, file, path, "format", "margrave checkpoint",
                       "this is not a checkpoint"));
    MGVI_TRY(need_meta(run->ctx, file, path, "format_version", version,
                       "the checkpoint is of another version"));
    MGVI_TRY(mgvi_driver_take_over(solver, mgvi_tensors_meta(file, "solver")));
    fingerprint(solver, print);
    MGVI_TRY(need_meta(run->ctx, file, path, "solver", run->ops->name,
                       "the checkpoint is of another solver"));
    MGVI_TRY(need_meta(run->ctx, file, path, "fingerprint", print,
                       "the checkpoint is of other data, settings, tolerance or seed"));
    return MGV_OK;
}

static mgv_status restore(mgv_solver *solver, const char *path, const mgvi_tensors *file)
{
    mgvi_run *run = &solver->run;
    MGVI_TRY(check_file(solver, path, file));
    if (solver->family)
        return mgvi_family_restore(solver, path, file);
    MGVI_TRY(mgvi_driver_open_judge(solver));
    if (!run->ops->primal_only)
        MGVI_TRY(mgvi_driver_open_best(solver));
    for (int pass = 0; pass < 2; pass++) /* check everything before changing anything */
        for (int i = 0; i < run->kept_count; i++) {
            const mgvi_tensor *t = &run->kept[i].tensor;
            const void *data;
            MGVI_TRY(
                mgvi_tensors_need(run->ctx, file, t->name, t->type, 1, t->shape[0], -1, &data));
            if (pass == 1 && run->kept[i].vec)
                mgvi_vec_upload(run->ctx, data, run->kept[i].vec);
            else if (pass == 1)
                memcpy((void *)(uintptr_t)t->data, data,
                       (size_t)t->shape[0] * mgvi_tensor_type_size(t->type));
        }
    run->iteration = solver->memory.iteration;
    run->rng = solver->memory.rng;
    if (solver->tried)
        solver->tried |= solver->memory.tried;
    if (run->rng.left < 0 || run->rng.left > 4 || run->iteration < 0 ||
        solver->memory.comebacks < 0)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "%s: the state of the run is damaged", path);
    return run->ops->restored ? run->ops->restored(run) : MGV_OK;
}

mgv_status mgvi_checkpoint_parse(mgv_solver *solver, const char *path, const void *bytes,
                                 size_t size)
{
    mgvi_tensors *file;
    MGVI_TRY(mgvi_tensors_parse(solver->run.ctx, path, bytes, size, &file));
    const mgv_status st = restore(solver, path, file);
    mgvi_tensors_free(solver->run.ctx, file);
    return st;
}

mgv_status mgvi_checkpoint_read(mgv_solver *solver, const char *path)
{
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_source source;
    MGVI_TRY(mgvi_source_open(ctx, path, NULL, &source));
    const mgv_status st = mgvi_checkpoint_parse(solver, path, source.bytes, source.size);
    mgvi_source_close(ctx, &source);
    return st;
}
