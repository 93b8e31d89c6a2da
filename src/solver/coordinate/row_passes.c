/* row_passes.c - orders of rows, and rows drawn at random. */
#include "solver/coordinate/row_passes.h"

#include <string.h>

enum {
    OPENING = 3,     /* full passes before rows are left out */
    MOST_BRIEF = 40, /* brief passes between two full ones */
    CIRCLES = 30     /* full passes after which intervals beside an intercept are all looked at */
};
static const double SETTLED = 0.1; /* the moves of the first brief pass have fallen to this share */

mgv_status mgvi_row_passes_new(mgvi_run *run, mgvi_row_passes *out)
{
    const int64_t n = run->problem->A->rows;
    MGVI_TRY(mgvi_run_check_rows(run));
    MGVI_TRY(MGVI_RUN_ARRAY(run, out->all, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, out->order, n));
    MGVI_TRY(mgvi_run_keep(run, "order", MGVI_T_I32, out->order, n));
    return mgvi_run_keep(run, "passes", MGVI_T_U8, &out->m, sizeof out->m);
}

void mgvi_row_passes_add(mgvi_row_passes *passes, int64_t row)
{
    passes->all[passes->all_count++] = (int32_t)row;
}

/* Rows are drawn with the chances of `until`, sums of L_i, or all alike. */
static void draw_rows(mgvi_run *run, mgvi_row_passes *passes, int64_t wanted)
{
    const int64_t count = passes->all_count;
    for (int64_t t = 0; t < wanted; t++) {
        int64_t low = 0, high = count - 1;
        if (!passes->until) {
            passes->order[t] = passes->all[mgvi_rng_below(&run->rng, (uint32_t)count)];
            continue;
        }
        const double at = mgvi_rng_uniform(&run->rng) * passes->until[count - 1];
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (passes->until[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        passes->order[t] = passes->all[low];
    }
}

int64_t mgvi_row_passes_next(mgvi_run *run, mgvi_row_passes *passes, bool *full)
{
    if (run->settings->row_order != MGVI_ROW_ORDER_SHUFFLE) {
        const int64_t draws = mgvi_run_draws(run, passes->all_count);
        const int64_t pass = mgvi_run_pass(run, passes->all_count);
        *full = (run->iteration + 1) % pass == 0;
        passes->m.full += *full;
        passes->m.brief = draws < passes->all_count; /* nothing is guessed from some rows */
        draw_rows(run, passes, draws);
        return draws;
    }
    const mgv_problem *p = run->problem;
    const bool held = p->free_cols > 0 && (p->loss->can & MGVI_BETWEEN) &&
                      passes->m.full > CIRCLES; /* as dual_coordinate */
    *full = !run->settings->shrink || held || passes->m.full < OPENING || passes->m.active == 0 ||
            passes->m.brief >= MOST_BRIEF;
    passes->m.full += *full;
    passes->m.brief = *full ? 0 : passes->m.brief + 1;
    const int64_t count = *full ? passes->all_count : passes->m.active;
    if (*full)
        memcpy(passes->order, passes->all, (size_t)count * sizeof *passes->order);
    mgvi_rng_shuffle(&run->rng, passes->order, count);
    return count;
}

void mgvi_row_passes_done(mgvi_row_passes *passes, int64_t active, double move)
{
    passes->m.active = active;
    if (passes->m.brief <= 1)
        passes->m.first_move = move;
    else if (move <= SETTLED * passes->m.first_move)
        passes->m.active = 0;
}

mgv_status mgvi_row_passes_check(mgvi_run *run, const mgvi_row_passes *passes)
{
    return mgvi_run_check_list(run, passes->order, passes->m.active, passes->all_count);
}
