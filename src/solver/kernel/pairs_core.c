/* pairs_core.c - pairwise ascent on the places that still move. */
#include "solver/kernel/pairs_core.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

/* Steps per place on the whole block before a core is cut out: well-conditioned blocks are done by
 * then. A core's ascent ends at this part of the block's violation. */
enum { WHOLE_STEPS = 2, CORE_STEPS = 2000 };
static const double CORE_PART = 0.1;

/* Work of one step: two sweeps, three values a place. */
static double step_work(const mgvi_pairs *p) { return 3.0 * (double)p->size; }

static mgv_status make_room(mgvi_pairs_core *core, mgvi_arena *arena, int64_t capacity)
{
    if (capacity <= core->room)
        return MGV_OK;
    MGVI_TRY(MGVI_ARRAY(arena, core->places, capacity));
    MGVI_TRY(MGVI_ARRAY(arena, core->moved, capacity));
    core->room = capacity;
    return MGV_OK;
}

/* Free places, and bounded ones on the wrong side of b; place 0 stays place 0. */
static int64_t choose(mgvi_pairs_core *core, const mgvi_pairs *block)
{
    const double b = 0.5 * (block->most + block->least);
    int64_t count = 1;
    core->places[0] = 0;
    for (int64_t i = 1; i < block->size; i++) {
        const bool rises = block->up[i] == 0, falls = block->down[i] == 0;
        if ((rises && falls) || (rises && block->v[i] > b) || (falls && block->v[i] < b))
            core->places[count++] = i;
    }
    return count;
}

#define DEFINE_CUT(T, S)                                                                           \
    static void cut_##S(const mgvi_pairs_core *core, const mgvi_pairs *block)                      \
    {                                                                                              \
        const int64_t n = core->pairs.size;                                                        \
        for (int64_t t = 0; t < n; t++) {                                                          \
            const T *from = (const T *)mgvi_pairs_row(block, core->places[t]);                     \
            T *to = (T *)mgvi_pairs_row(&core->pairs, t);                                          \
            for (int64_t k = 0; k < n; k++)                                                        \
                to[k] = from[core->places[k]];                                                     \
            memset(to + n, 0, (size_t)(core->pairs.capacity - n) * sizeof *to);                    \
        }                                                                                          \
    }
DEFINE_CUT(float, f32)
DEFINE_CUT(double, f64)

static mgv_status cut(mgvi_pairs_core *core, const mgvi_pairs *block, mgvi_arena *arena,
                      int64_t count)
{
    mgvi_pairs *p = &core->pairs;
    if (count > p->capacity) {
        p->size = 0;
        MGVI_TRY(mgvi_pairs_grow(p, arena, count + count / 4));
    }
    p->size = count;
    p->limit = block->limit;
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = core->places[t];
        p->c[t] = block->c[i];
        p->v[t] = block->v[i];
        p->lo[t] = block->lo[i];
        p->hi[t] = block->hi[i];
        p->diagonal[t] = block->diagonal[i];
        p->ridge[t] = block->ridge[i];
    }
    for (int64_t t = count; t < p->capacity; t++) {
        p->up[t] = -INFINITY;
        p->down[t] = INFINITY;
    }
    if (p->dtype == MGV_F32)
        cut_f32(core, block);
    else
        cut_f64(core, block);
    mgvi_pairs_mark(p);
    return MGV_OK;
}

/* c of the core goes back, v -= (K + diag(r)) dc on the whole block. */
static void put_back(mgvi_pairs_core *core, mgvi_pairs *block)
{
    for (int64_t t = 0; t < core->pairs.size; t++) {
        const int64_t i = core->places[t];
        core->moved[t] = core->pairs.c[t] - block->c[i];
        block->c[i] = core->pairs.c[t];
        block->v[i] -= block->ridge[i] * core->moved[t];
    }
    for (int64_t t = 1; t < core->pairs.size; t++) {
        const void *row = mgvi_pairs_row(block, core->places[t]);
        if (core->moved[t] == 0)
            continue;
        if (block->dtype == MGV_F32)
            block->ctx->simd->axpy_f32(-core->moved[t], row, block->v, block->size);
        else
            block->ctx->simd->axpy_f64(-core->moved[t], row, block->v, block->size);
    }
    mgvi_pairs_mark(block);
}

mgv_status mgvi_pairs_core_run(mgvi_pairs_core *core, mgvi_pairs *block, mgvi_arena *arena,
                               double eps, double most_work, double *work)
{
    *work = 0;
    int64_t steps = mgvi_pairs_run(block, eps, WHOLE_STEPS * block->size);
    *work += step_work(block) * (double)steps;
    MGVI_TRY(make_room(core, arena, block->capacity));
    if (core->pairs.dtype != block->dtype || !core->pairs.ctx)
        core->pairs = (mgvi_pairs){.ctx = block->ctx, .dtype = block->dtype, .rough = block->rough};
    bool beyond = block->beyond;
    while (block->most - block->least > eps && *work < most_work && !beyond &&
           !mgvi_ctx_was_cut(block->ctx)) {
        const double violation = block->most - block->least;
        MGVI_TRY(cut(core, block, arena, choose(core, block)));
        steps = mgvi_pairs_run(&core->pairs, fmax(CORE_PART * violation, 0.5 * eps),
                               CORE_STEPS * core->pairs.size);
        beyond = core->pairs.beyond;
        put_back(core, block);
        *work += step_work(&core->pairs) * (double)steps +
                 2.0 * (double)(core->pairs.size * block->size);
        mgvi_pairs_measure(block);
        if (steps == 0)
            break;
    }
    return MGV_OK;
}
