/* checkpoint.c - the whole state of a run in a file of tensors, continued to the same bits. */
#include "solver/classes/family.h"

#include "base/hash.h"
#include "solver/checkpoint_file.h"

#include <string.h>

/* The solver's own settings, by their texts. */
static uint64_t mix_settings(uint64_t hash, const mgv_solver *solver)
{
    char name[64], value[MGVI_TEXT_MAX];
    for (int k = 0; mgvi_solver_setting(solver->run.ops, k, name); k++)
        if (mgvi_settings_get(solver->run.ctx, &solver->settings, name, value, sizeof value) ==
            MGV_OK)
            hash = mgvi_hash_text(hash, value);
    return hash;
}

/* Formula, seed, tolerance, and the data. */
uint64_t mgvi_problem_print(const mgv_problem *p, const mgv_settings *s)
{
    uint64_t h = mgvi_hash_text(MGVI_HASH_BEGIN, p->formula);
    h = mgvi_hash_text(h, mgvi_scale_name(s->scale));
    h = mgvi_hash(h, &s->seed, sizeof s->seed);
    h = mgvi_hash(h, &s->shrink, sizeof s->shrink);
    h = mgvi_hash(h, &s->tol, sizeof s->tol); /* it decides when certificates are taken */
    return mgvi_problem_hash(p, h);
}

/* What decides the steps. */
static uint64_t fingerprint(const mgv_solver *solver)
{
    const uint64_t h = mgvi_problem_print(solver->run.problem, &solver->settings);
    return mix_settings(mgvi_hash(h, &solver->of.print, sizeof solver->of.print), solver);
}

mgvi_checkpoint_id mgvi_checkpoint_of(const mgv_solver *solver)
{
    return (mgvi_checkpoint_id){solver->of.command, solver->run.ops->name, fingerprint(solver)};
}

/* Of a run that was cut: the state of its last whole iteration that was kept (limits.c). */
static mgv_status put(const mgv_solver *solver, mgvi_checkpoint_goal *to)
{
    const mgvi_run *run = &solver->run;
    const mgvi_checkpoint_goal *whole = &solver->keeper.whole;
    if (solver->cut && !whole->bytes)
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "the limit has ended the run within an iteration, and no whole state was "
                         "kept; set `checkpoint` before the run");
    if (solver->cut)
        return mgvi_checkpoint_put_bytes(run->ctx, whole->bytes, whole->size, to);
    const mgvi_checkpoint_id id = mgvi_checkpoint_of(solver);
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
    const mgv_status st = mgvi_checkpoint_put(run->ctx, &id, kept, run->kept_count, to);
    mgvi_release(run->ctx, kept);
    return st;
}

mgv_status mgvi_checkpoint_put_run(void *owner, mgvi_checkpoint_goal *to)
{
    const mgv_solver *solver = owner;
    return solver->family ? mgvi_family_put(solver, solver->keeper.ctx, to) : put(solver, to);
}

mgv_status mgvi_checkpoint_write(const mgv_solver *solver, const char *path)
{
    mgvi_checkpoint_goal to = {.path = path};
    return solver->family ? mgvi_family_put(solver, solver->run.ctx, &to) : put(solver, &to);
}

mgv_status mgvi_checkpoint_pack(const mgv_solver *solver, void **bytes, size_t *size)
{
    mgvi_checkpoint_goal to = {.path = NULL};
    const mgv_status st = put(solver, &to);
    *bytes = to.bytes;
    *size = to.size;
    return st;
}

/* Counts that a run can have come to, and count on. */
static bool is_sane(const mgv_solver *solver)
{
    static const int64_t MOST = INT64_C(1) << 60;
    const mgvi_driver_memory *m = &solver->memory;
    const int64_t counts[] = {m->next_proof, m->certificates, m->looks,
                              m->far_looks,  m->comebacks,    m->concluded};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > MOST)
            return false;
    const mgvi_run *run = &solver->run;
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const mgvi_solver_ops *ops = mgvi_solver_at(k);
        if ((m->paused & mgvi_solver_bit(ops)) && /* who may come back */
            !(ops->cost && mgvi_solver_suits(run->ctx, ops, run->problem)))
            return false;
    }
    return run->rng.left >= 0 && run->rng.left <= 4 && run->iteration >= 0 && m->certified >= -1;
}

static mgv_status restore(void *owner, const char *path, const mgvi_tensors *file)
{
    mgv_solver *solver = owner;
    mgvi_run *run = &solver->run;
    MGVI_TRY(mgvi_driver_take_over(solver, mgvi_tensors_meta(file, "solver")));
    const mgvi_checkpoint_id id = mgvi_checkpoint_of(solver);
    MGVI_TRY(mgvi_checkpoint_fits(run->ctx, path, file, &id));
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
    if (!is_sane(solver))
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "%s: the state of the run is damaged", path);
    return run->ops->restored ? run->ops->restored(run) : MGV_OK;
}

mgv_status mgvi_checkpoint_parse(mgv_solver *solver, const char *path, const void *bytes,
                                 size_t size)
{
    const mgvi_checkpoint_heir heir = {{.command = solver->of.command}, solver, restore};
    return mgvi_checkpoint_take(solver->run.ctx, &heir, path, bytes, size);
}

mgv_status mgvi_checkpoint_read(mgv_solver *solver, const char *path)
{
    return mgvi_checkpoint_parse(solver, path, NULL, 0);
}
