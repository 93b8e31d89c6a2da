/* opposite.c - equal examples with different labels. */
#include "op/features.h"
#include "problem/problem.h"

#include <string.h>

/* Where examples and classes are kept. */
typedef struct labels {
    const mgv_problem *p;
    const mgvi_contrast *contrast; /* NULL: two classes */
    int64_t count;                 /* examples */
} labels;

static int32_t label(const labels *l, int64_t i)
{
    return l->contrast ? l->contrast->own[i] : mgvi_problem_free_entry(l->p, i) > 0;
}

/* The row of A that has example i in its own class and j's class as the rival. */
static int64_t row_against(const labels *l, int64_t i, int64_t j)
{
    return l->contrast ? i * l->contrast->k + label(l, j) : i;
}

static bool weighs(const labels *l, int64_t i, int64_t j)
{
    return mgvi_coef_pick(&l->p->row.scale, row_against(l, i, j), 0) > 0;
}

/* `first` has room for a number per example. */
static bool find(const labels *l, const int64_t *twin, int64_t *first, mgvi_vec *u)
{
    for (int64_t i = 0; i < l->count; i++)
        first[i] = -1;
    for (int64_t i = 0; i < l->count; i++) {
        const int64_t j = first[twin[i]];
        if (j < 0) {
            first[twin[i]] = i;
            continue;
        }
        if (label(l, i) == label(l, j) || !weighs(l, i, j))
            continue;
        if (!weighs(l, j, i)) { /* it was no example after all */
            first[twin[i]] = i;
            continue;
        }
        memset(u->x, 0, (size_t)u->n * sizeof *u->x);
        u->x[row_against(l, i, j)] = u->x[row_against(l, j, i)] = -0.5;
        return true;
    }
    return false;
}

mgv_status mgvi_problem_opposites(const mgv_problem *p, mgvi_vec *u, bool *found)
{
    labels l = {.p = p, .contrast = mgvi_contrast_of(p->A)};
    mgvi_kernel_op *kernel = mgvi_kernel_of(l.contrast ? l.contrast->base : p->A);
    l.count = l.contrast ? l.contrast->base->rows : p->A->rows;
    *found = false;
    if (!kernel || !mgvi_problem_has_margin(p))
        return MGV_OK;
    const int64_t *twin = mgvi_kernel_twins(kernel);
    int64_t *first = mgvi_alloc(p->ctx, (size_t)l.count, sizeof *first);
    if (twin && first)
        *found = find(&l, twin, first, u);
    mgvi_release(p->ctx, first);
    return twin && first ? MGV_OK : MGV_E_MEMORY;
}
