/* lockstep.c - rounds of passes over the rows of all classes of a block, and when to end them. */
#include "solver/parts/lockstep.h"

#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    OPENING = 3,      /* full passes before rows are left out */
    SHORT_PASSES = 6, /* between two full ones */
    MOST_ROUNDS = 40
};
/* Visits that must move something, and lanes that must still move, for lock-step to pay. */
static const double MOVING = 1.0 / 3, BUSY = 0.25;

/* ---- rows ------------------------------------------------------------------------------------ */

bool mgvi_lockstep_fits(const mgv_problem *p)
{
    return strcmp(p->loss->name, "hinge") == 0 && strcmp(p->penalty->name, "l2") == 0 &&
           !p->col.scale.values && !mgvi_problem_has_smooth(p) && !p->free_cols &&
           p->kernel.kind == MGVI_KERNEL_LINEAR && p->data->X.layout == MGV_CSR && !p->centre &&
           !p->scale && p->A->rows <= INT32_MAX;
}

static float clamp_float(double x) { return (float)fmin(x, 1e30); }

static void fill_rows(const mgv_problem *p, mgvi_lockstep_rows *r)
{
    const mgvi_matrix *X = &p->data->X;
    for (int64_t i = 0; i < r->n; i++) {
        const double scale = p->row_scale ? p->row_scale[i] : 1;
        const double C = mgvi_coef_pick(&p->row.scale, i, 0) / p->lambda;
        double square = 0;
        for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++) {
            const double v = scale * mgvi_matrix_value(X, t);
            r->val[t] = (float)v;
            square += v * v;
        }
        r->C[i] = clamp_float(C);
        r->step[i] = C * square > 0 ? clamp_float(1 / (C * square)) : 1e30F;
        r->own[i] = (int32_t)mgvi_data_class_of(p->data, p->data->labels[i]);
        if (C > 0)
            r->live[r->live_count++] = (int32_t)i;
    }
}

mgv_status mgvi_lockstep_rows_new(const mgv_problem *p, mgvi_arena *arena, mgvi_lockstep_rows **out)
{
    const mgvi_matrix *X = &p->data->X;
    const size_t n = (size_t)X->rows;
    mgvi_lockstep_rows *r = mgvi_arena_array(arena, 1, sizeof *r);
    if (!r)
        return MGV_E_MEMORY;
    *r = (mgvi_lockstep_rows){
        .ctx = p->ctx, .n = X->rows, .cols = X->cols, .ptr = X->ptr, .idx = X->idx, .nnz = X->nnz};
    r->val = mgvi_arena_scratch(arena, (size_t)X->nnz, sizeof *r->val);
    r->C = mgvi_arena_array(arena, n, sizeof *r->C);
    r->step = mgvi_arena_array(arena, n, sizeof *r->step);
    r->own = mgvi_arena_array(arena, n, sizeof *r->own);
    r->live = mgvi_arena_array(arena, n, sizeof *r->live);
    if (!r->val || !r->C || !r->step || !r->own || !r->live)
        return MGV_E_MEMORY;
    fill_rows(p, r);
    *out = r;
    return MGV_OK;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static mgvi_lockstep_fn sweep_for(const mgv_ctx *ctx)
{
#if defined(__x86_64__)
    if (strcmp(ctx->simd->name, "avx512") == 0)
        return mgvi_lockstep_sweep_avx512;
    if (strcmp(ctx->simd->name, "avx2") == 0)
        return mgvi_lockstep_sweep_avx2;
#endif
    (void)ctx;
    return mgvi_lockstep_sweep_scalar;
}

typedef struct work {
    mgvi_lockstep_pass pass;
    int32_t *order;
    int64_t active; /* rows in `order` that short passes visit */
    int32_t count;  /* lanes in use */
    mgvi_rng rng;
    mgvi_lockstep_fn sweep;
} work;

static void run_pass(work *w, bool full)
{
    mgvi_lockstep_pass *p = &w->pass;
    const mgvi_lockstep_rows *r = p->rows;
    const int64_t visited = full ? r->live_count : w->active;
    if (full)
        memcpy(w->order, r->live, (size_t)visited * sizeof *w->order);
    memset(p->loss, 0, sizeof p->loss);
    memset(p->gap, 0, sizeof p->gap);
    memset(p->square, 0, sizeof p->square);
    mgvi_rng_shuffle(&w->rng, w->order, visited);
    w->active = w->sweep(p, w->order, visited, w->order);
}

/* After a full pass: lanes whose gap seems small enough rest; the pass saw rows before their steps,
 * so that the gap is smaller now. The number that still move. */
static int32_t settle_lanes(work *w, double tol)
{
    const mgvi_lockstep_pass *p = &w->pass;
    int32_t moving = 0;
    for (int32_t l = 0; l < w->count; l++) {
        const double primal = p->loss[l] + 0.5 * p->square[l];
        if (p->gap[l] <= tol * primal)
            w->pass.mask[l] = 0;
        moving += w->pass.mask[l] > 0;
    }
    return moving;
}

static void ascend(work *w, double tol, mgvi_lockstep_result *out)
{
    for (int k = 0; k < OPENING; k++)
        run_pass(w, true);
    for (; out->rounds < MOST_ROUNDS && !mgvi_ctx_interrupted(w->pass.rows->ctx); out->rounds++) {
        const int32_t moving = settle_lanes(w, tol);
        if (moving <= BUSY * w->count)
            break;
        const int64_t moved = w->pass.moved;
        int64_t visits = 0;
        for (int k = 0; k < SHORT_PASSES && w->active > 0; k++) {
            visits += w->active;
            run_pass(w, false);
        }
        if ((double)(w->pass.moved - moved) < MOVING * (double)visits)
            break;
        run_pass(w, true);
    }
}

mgv_status mgvi_lockstep_run(const mgvi_lockstep_rows *rows, const mgv_problem *block, double tol,
                             mgvi_rng rng, mgvi_arena *arena, mgvi_lockstep_result *out)
{
    const size_t n = (size_t)rows->n, lanes = MGVI_LOCKSTEP_LANES;
    const int32_t count = block->lanes;
    work w = {.count = count, .rng = rng, .sweep = sweep_for(block->ctx)};
    w.pass = (mgvi_lockstep_pass){.rows = rows, .first = (int32_t)block->positive};
    /* together: the larger a block, the sooner it lies on huge pages, and W is read at random */
    w.pass.W = mgvi_arena_array(arena, (size_t)rows->cols + n, lanes * sizeof(float));
    w.pass.theta = w.pass.W ? w.pass.W + (size_t)rows->cols * lanes : NULL;
    w.order = mgvi_arena_array(arena, n, sizeof *w.order);
    out->u = mgvi_arena_array(arena, n, (size_t)count * sizeof *out->u);
    if (!w.pass.W || !w.order || !out->u)
        return MGV_E_MEMORY;
    for (int32_t l = 0; l < count; l++)
        w.pass.mask[l] = 1;
    out->rounds = 0;
    ascend(&w, tol, out);
    for (int64_t i = 0; i < rows->n; i++)
        for (int32_t l = 0; l < count; l++)
            out->u[i * count + l] = -mgvi_coef_pick(&block->row.scale, i, 0) *
                                    (double)w.pass.theta[i * MGVI_LOCKSTEP_LANES + l];
    out->passes = rows->nnz > 0 ? w.pass.touched / (double)rows->nnz : 0;
    return MGV_OK;
}
