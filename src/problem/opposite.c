/* opposite.c - equal examples with different labels: as the problem scales them. */
#include "op/features.h"
#include "op/twins.h"
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
        mgvi_vec_fill(l->p->ctx, u, 0);
        mgvi_vec_set(u, row_against(l, i, j), -0.5);
        mgvi_vec_set(u, row_against(l, j, i), -0.5);
        return true;
    }
    return false;
}

/* The first example with the numbers of example i, for every i: the kernel's own, or in `room`. */
static mgv_status twins_of(const labels *l, const mgvi_matrix *rows, int64_t *room,
                           const int64_t **twin)
{
    mgvi_kernel_op *kernel = mgvi_kernel_of(l->contrast ? l->contrast->base : l->p->A);
    *twin = kernel ? mgvi_kernel_twins(kernel) : room;
    if (kernel)
        return *twin ? MGV_OK : MGV_E_MEMORY;
    return l->p->view.row_scale ? mgvi_matrix_rays(l->p->ctx, rows, l->count, room)
                                : mgvi_matrix_twins(l->p->ctx, rows, NULL, l->count, room);
}

mgv_status mgvi_problem_opposites(const mgv_problem *p, const mgvi_matrix *rows, mgvi_vec *u,
                                  bool *found)
{
    labels l = {.p = p, .contrast = mgvi_contrast_of(p->A)};
    const int64_t *twin;
    l.count = l.contrast ? l.contrast->base->rows : p->A->rows;
    *found = false;
    int64_t *room = mgvi_alloc(p->ctx, 2 * (size_t)l.count, sizeof *room);
    if (!room)
        return MGV_E_MEMORY;
    const mgv_status st = twins_of(&l, rows, room, &twin);
    if (st == MGV_OK)
        *found = find(&l, twin, room + l.count, u);
    mgvi_release(p->ctx, room);
    return st;
}
