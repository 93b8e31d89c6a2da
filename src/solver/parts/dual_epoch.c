/* dual_epoch.c - the hot loop of dual coordinate ascent, once per registered loss so that the
 * scalar formulas are inlined. */
#include "solver/parts/dual_epoch.h"

#include "loss/list.h"

#include <math.h>

enum { AHEAD = 4 }; /* rows fetched before they are needed */

#define EPOCH(name, sample, summary)                                                               \
    static int64_t epoch_##name(mgvi_dual_epoch *e, const int32_t *order, int64_t count,           \
                                int32_t *moved)                                                    \
    {                                                                                              \
        const mgv_problem *p = e->problem;                                                         \
        const int64_t free_slot = mgvi_rows_acc_len(e->rows) - 1;                                  \
        int64_t kept = 0, touched = 0;                                                             \
        for (int64_t t = 0; t < count; t++) {                                                      \
            const int64_t i = order[t];                                                            \
            if (t + AHEAD < count)                                                                 \
                mgvi_rows_prefetch(e->rows, order[t + AHEAD]);                                     \
            const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);                                      \
            const double z = mgvi_rows_dot(e->rows, i, e->acc), u = e->u[i];                       \
            const double next = name##_dual_step(c, u, z, e->curvature[i]);                        \
            const double loss = name##_value(c, z);                                                \
            e->loss += loss;                                                                       \
            e->fenchel += loss + name##_conj(c, u) - u * z;                                        \
            e->product += u * z;                                                                   \
            e->sum_u += next;                                                                      \
            e->least = fmin(e->least, z);                                                          \
            touched += mgvi_rows_nnz(e->rows, i);                                                  \
            const double move = next - u;                                                          \
            if (move == 0)                                                                         \
                continue;                                                                          \
            const double step = -move * e->inverse_lambda;                                         \
            mgvi_rows_axpy(e->rows, i, step, e->acc);                                              \
            if (e->free_weight > 0) {                                                              \
                const double entry = mgvi_problem_free_entry(p, i);                                \
                e->acc[free_slot] -= entry * (step + move * e->free_weight);                       \
                e->free_sum += entry * move;                                                       \
            }                                                                                      \
            e->u[i] = next;                                                                        \
            e->worst_move = fmax(e->worst_move, e->curvature[i] * fabs(move));                     \
            touched += mgvi_rows_nnz(e->rows, i);                                                  \
            moved[kept++] = (int32_t)i;                                                            \
        }                                                                                          \
        e->touched += (double)touched;                                                             \
        return kept;                                                                               \
    }
MGVI_LOSSES(EPOCH)

typedef int64_t (*epoch_fn)(mgvi_dual_epoch *, const int32_t *, int64_t, int32_t *);
#define ENTRY(name, sample, summary) epoch_##name,
static const epoch_fn epochs[] = {MGVI_LOSSES(ENTRY)};

int64_t mgvi_dual_epoch_run(mgvi_dual_epoch *e, const int32_t *order, int64_t count, int32_t *moved)
{
    e->touched = e->loss = e->fenchel = e->product = e->sum_u = e->worst_move = 0;
    e->least = INFINITY;
    return epochs[e->problem->loss->index](e, order, count, moved);
}
