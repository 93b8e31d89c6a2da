/* family_save.c - checkpoints of families. The certified members have their weights and summaries,
 * the others what is left of them: the state of a run, as a checkpoint of its own inside the file,
 * or a start. */
#include "problem/member.h"
#include "solver/classes/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A summary without pointers. */
typedef struct record {
    char solver[32];
    int64_t stop, iterations, rounds;
    double passes, seconds, lane_passes;
    mgv_certificate certificate;
} record;

enum { FIXED = 5, PER_MEMBER = 3 }; /* arrays */

/* What goes into the file; nothing of a sitting whose lock-step was cut short, which begins again
 * and then takes the steps of an unbroken one. */
typedef struct snapshot {
    record *record;
    mgvi_tensor *tensor;
    int count;
} snapshot;

static void add(snapshot *s, mgvi_tensor_type type, int64_t count, const void *data,
                const char *format, int64_t member)
{
    s->tensor[s->count++] = mgvi_checkpoint_array(type, count, data, format, member);
}

int mgvi_member_start_put(const mgvi_member_start *start, int64_t c, int64_t rows, int64_t cols,
                          mgvi_tensor out[2])
{
    int count = 0;
    if (start->w)
        out[count++] = mgvi_checkpoint_array(MGVI_T_F64, cols, start->w, "start_w.%lld", c);
    if (start->u)
        out[count++] = mgvi_checkpoint_array(MGVI_T_F64, rows, start->u, "start_u.%lld", c);
    return count;
}

static mgv_status open_snapshot(const mgv_solver *solver, mgvi_arena *arena, snapshot *s)
{
    const mgvi_family *f = solver->family;
    const size_t members = (size_t)f->members;
    const size_t weights = members * (size_t)mgvi_problem_coefs(solver->run.problem);
    s->record = mgvi_arena_array(arena, members, sizeof *s->record);
    s->tensor = mgvi_arena_array(arena, FIXED + PER_MEMBER * members, sizeof *s->tensor);
    if (!s->record || !s->tensor)
        return MGV_E_MEMORY;
    add(s, MGVI_T_U8, (int64_t)(members * sizeof *s->record), s->record, "members", 0);
    add(s, MGVI_T_F64, (int64_t)weights, f->coef, "coef", 0);
    add(s, MGVI_T_F64, f->members, f->intercept, "intercept", 0);
    add(s, MGVI_T_F64, f->members, f->length, "length", 0);
    add(s, MGVI_T_F64, 1, &f->seconds, "seconds", 0);
    return MGV_OK;
}

static void add_member(const mgv_solver *solver, int64_t c, snapshot *s)
{
    const mgvi_family *f = solver->family;
    const mgvi_summary *m = &f->member[c];
    const mgvi_member_left *left = &f->left[c];
    const mgv_problem *head = solver->run.problem;
    record *r = &s->record[c];
    if (f->hasty)
        return;
    r->rounds = left->rounds;
    r->lane_passes = left->passes;
    if (m->stop == MGV_STOP_CERTIFIED) {
        snprintf(r->solver, sizeof r->solver, "%s", m->solver);
        r->stop = m->stop;
        r->iterations = m->iterations;
        r->passes = m->passes;
        r->seconds = m->seconds;
        r->certificate = m->certificate;
        return;
    }
    if (left->state)
        add(s, MGVI_T_U8, (int64_t)left->state_size, left->state, "state.%lld", c);
    s->count += mgvi_member_start_put(&left->start, c, mgvi_member_row_count(head, c),
                                      head->A->cols, s->tensor + s->count);
}

mgv_status mgvi_family_put(const mgv_solver *solver, mgv_ctx *ctx, mgvi_checkpoint_goal *to)
{
    snapshot s = {0};
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgv_status st = open_snapshot(solver, &arena, &s);
    for (int64_t c = 0; st == MGV_OK && c < solver->family->members; c++)
        add_member(solver, c, &s);
    if (st == MGV_OK) {
        const mgvi_checkpoint_id id = mgvi_checkpoint_of(solver);
        st = mgvi_checkpoint_put(ctx, &id, s.tensor, s.count, to);
    }
    mgvi_arena_free(&arena);
    return st;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static mgv_status damaged(const mgv_solver *solver, const char *path, int64_t c)
{
    return MGVI_FAIL(solver->run.ctx, MGV_E_INPUT,
                     "%s: the state of class problem %" PRId64 " is damaged", path, c + 1);
}

mgv_status mgvi_member_start_take(mgv_ctx *ctx, const mgvi_tensors *file, int64_t c, int64_t rows,
                                  int64_t cols, mgvi_member_start *out)
{
    size_t size;
    void *w = NULL, *u = NULL;
    mgv_status st = mgvi_checkpoint_copy(ctx, file, "start_u.%lld", c, MGVI_T_F64, rows, &u, &size);
    if (st == MGV_OK)
        st = mgvi_checkpoint_copy(ctx, file, "start_w.%lld", c, MGVI_T_F64, cols, &w, &size);
    *out = (mgvi_member_start){.w = w, .u = u};
    return st;
}

static mgv_status take_left(mgv_solver *solver, const mgvi_tensors *file, int64_t c,
                            const record *r)
{
    mgv_ctx *ctx = solver->run.ctx;
    const mgv_problem *head = solver->run.problem;
    mgvi_member_left *left = &solver->family->left[c];
    left->rounds = r->rounds;
    left->passes = r->lane_passes;
    MGVI_TRY(mgvi_checkpoint_copy(ctx, file, "state.%lld", c, MGVI_T_U8, -1, &left->state,
                                  &left->state_size));
    const mgv_status st = mgvi_member_start_take(ctx, file, c, mgvi_member_row_count(head, c),
                                                 head->A->cols, &left->start);
    if (left->state || left->start.u)
        solver->family->begun = true;
    return st;
}

static mgv_status take_member(mgv_solver *solver, const char *path, const mgvi_tensors *file,
                              int64_t c, const record *r)
{
    mgvi_family *f = solver->family;
    char name[sizeof r->solver + 1] = {0};
    memcpy(name, r->solver, sizeof r->solver);
    const mgvi_solver_ops *ops = mgvi_solver_find(name);
    const bool sane = r->rounds >= 0 && r->lane_passes >= 0 && isfinite(r->lane_passes);
    if (r->stop == MGV_STOP_NONE)
        return sane ? take_left(solver, file, c, r) : damaged(solver, path, c);
    if (r->stop != MGV_STOP_CERTIFIED || !ops || r->iterations < 0 || !sane)
        return damaged(solver, path, c);
    f->begun = true;
    f->member[c] = (mgvi_summary){.solver = ops->name,
                                  .stop = MGV_STOP_CERTIFIED,
                                  .iterations = r->iterations,
                                  .passes = r->passes,
                                  .seconds = r->seconds,
                                  .certificate = r->certificate};
    return MGV_OK;
}

mgv_status mgvi_family_restore(mgv_solver *solver, const char *path, const mgvi_tensors *file)
{
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_family *f = solver->family;
    const int64_t weights = f->members * mgvi_problem_coefs(solver->run.problem);
    const void *bytes, *coef, *intercept, *length, *seconds;
    MGVI_TRY(mgvi_tensors_need(ctx, file, "members", MGVI_T_U8, 1,
                               f->members * (int64_t)sizeof(record), -1, &bytes));
    MGVI_TRY(mgvi_tensors_need(ctx, file, "coef", MGVI_T_F64, 1, weights, -1, &coef));
    MGVI_TRY(mgvi_tensors_need(ctx, file, "intercept", MGVI_T_F64, 1, f->members, -1, &intercept));
    MGVI_TRY(mgvi_tensors_need(ctx, file, "length", MGVI_T_F64, 1, f->members, -1, &length));
    MGVI_TRY(mgvi_tensors_need(ctx, file, "seconds", MGVI_T_F64, 1, 1, -1, &seconds));
    memcpy(f->coef, coef, (size_t)weights * sizeof *f->coef);
    memcpy(f->intercept, intercept, (size_t)f->members * sizeof *f->intercept);
    memcpy(f->length, length, (size_t)f->members * sizeof *f->length);
    memcpy(&f->seconds, seconds, sizeof f->seconds);
    for (int64_t c = 0; c < f->members; c++) {
        record r;
        memcpy(&r, (const char *)bytes + (size_t)c * sizeof r, sizeof r);
        MGVI_TRY(take_member(solver, path, file, c, &r));
    }
    return MGV_OK;
}
