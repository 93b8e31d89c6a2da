/* zeros.h - the zeros of an answer beside those of a tighter one: what is equal, a tie, different.
 * Shared by tests/solver and bench/bench_sparse.c.
 *
 * With g = -A'u of the tight answer the pull at a column is |g_j - lambda_j w_j|/mu_j, 1 where it
 * has a weight; of a group |g_G|/(mu weight_G); of an ordered penalty it is not known. A column
 * with a weight in one answer only is a tie      if its pull is within 1e-6 of 1, and its size s
 * beside the largest weight is below 1e-6; or the objective of the loose answer is no higher than
 * that of the tight one, to 1e-4 s^2 and to 1e-12: then there are many optima, for so small a
 * difference leaves no room for a weight that large on a curve; different  else. */
#ifndef MGV_TESTS_ZEROS_H
#define MGV_TESTS_ZEROS_H

#include "penalty/whole.h"
#include "solver/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct zeros {
    double *w, *pull; /* per column */
    int64_t cols, nonzeros;
    double largest, primal, dual, gap;
    bool certified;
    char solver[32];
} zeros;

typedef enum zeros_outcome { ZEROS_EQUAL, ZEROS_TIE, ZEROS_DIFFERENT } zeros_outcome;

static inline void zeros_pull_groups(const mgv_problem *p, const double *v, double *pull)
{
    const mgvi_groups *g = p->penalty_data;
    const double scale = mgvi_coef_pick(&p->col.scale, 0, 0);
    for (int64_t at = 0; at < g->count; at++) {
        double square = 0;
        for (int64_t t = g->first[at]; t < g->first[at + 1]; t++)
            square += v[g->column[t]] * v[g->column[t]];
        for (int64_t t = g->first[at]; t < g->first[at + 1]; t++)
            pull[g->column[t]] = sqrt(square) / (scale * g->weight[at]);
    }
}

static inline void zeros_pull(const mgv_solver *solver, zeros *out)
{
    const mgv_problem *p = solver->run.problem;
    double *v = calloc((size_t)p->A->cols, sizeof *v);
    mgvi_vec g = mgvi_vec_wrap(v, p->A->cols, MGVI_COLS);
    mgvi_op_mul_t(p->A, 1, &solver->answer.u, 0, &g);
    for (int64_t j = 0; j < out->cols; j++) {
        const mgvi_coef c = mgvi_coefs_at(&p->col, j, 0);
        const double ridge = p->penalty->can & MGVI_STRONG ? c.a * out->w[j] : 0;
        const double pull = -v[j] - ridge;
        out->pull[j] = p->penalty->whole                           ? NAN
                       : (p->penalty->can & MGVI_HARD) && pull < 0 ? 0
                                                                   : fabs(pull) / c.scale;
    }
    if (p->penalty == mgvi_penalty_find("group"))
        zeros_pull_groups(p, v, out->pull);
    free(v);
}

static inline zeros zeros_take(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    const int64_t cols = mgvi_problem_penalised(p);
    /* it goes when a run has ended */
    if (mgvi_driver_open_judge((mgv_solver *)(uintptr_t)solver) != MGV_OK)
        abort();
    /* as if nothing was rounded: bounds of rounding would hide differences of 1e-12 */
    const mgv_certificate exact =
        mgvi_judge_certify_with(solver->judge, &solver->answer.w, &solver->answer.u, MGVI_CARE_NONE)
            .certificate;
    zeros a = {.w = malloc((size_t)cols * sizeof *a.w),
               .pull = malloc((size_t)cols * sizeof *a.pull),
               .cols = cols,
               .primal = exact.primal,
               .dual = exact.dual,
               .gap = exact.relative_gap,
               .nonzeros = mgvi_problem_nonzeros(p, solver->answer.w.x),
               .certified = solver->stop == MGV_STOP_CERTIFIED};
    memcpy(a.w, solver->answer.w.x, (size_t)cols * sizeof *a.w);
    for (int64_t j = 0; j < cols; j++)
        a.largest = fmax(a.largest, fabs(a.w[j]));
    snprintf(a.solver, sizeof a.solver, "%s", solver->run.ops->name);
    zeros_pull(solver, &a);
    return a;
}

static inline void zeros_free(zeros *a)
{
    free(a->w);
    free(a->pull);
}

static inline zeros_outcome zeros_compare(const zeros *loose, const zeros *tight, int64_t j)
{
    static const double CLOSE = 1e-6, CURVE = 1e-4, OPTIMAL = 1e-12;
    if ((loose->w[j] != 0) == (tight->w[j] != 0))
        return ZEROS_EQUAL;
    const double size =
        fmax(fabs(tight->w[j]), fabs(loose->w[j])) / fmax(tight->largest, loose->largest);
    const double rise = (loose->primal - tight->primal) / fabs(tight->primal);
    const bool many = rise <= fmin(OPTIMAL, CURVE * size * size);
    const bool close = isnan(tight->pull[j]) || fabs(tight->pull[j] - 1) <= CLOSE;
    return close && (size <= CLOSE || many) ? ZEROS_TIE : ZEROS_DIFFERENT;
}
#endif
