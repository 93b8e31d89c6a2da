/* separate.c - Newton on the squared hinge without a regulariser. */
#include "solver/parts/separate.h"

#include "backend/cpu/gemm.h"
#include "op/gram.h"

#include <math.h>
#include <string.h>

static const double SINGLE = 1e-6; /* damping above which float32 products do */

struct mgvi_separate {
    const mgv_problem *p;
    bool *row, *col;        /* alive */
    int64_t live_rows, d;   /* d live columns */
    int32_t *at;            /* the d live columns */
    double *unit;           /* power of two per live column: mean square in [1/2, 2) */
    double *G, *H;          /* cols x cols; d x d, factored */
    double *rhs;            /* d */
    double *h;              /* weights of the rows for A'diag(h)A */
    mgvi_vec w, step, grad; /* columns */
    mgvi_vec f, Ap, r, q;   /* rows */
};

mgv_status mgvi_separate_new(const mgv_problem *p, mgvi_arena *arena, int64_t most_columns,
                             mgvi_separate **out)
{
    const int64_t n = p->A->rows, cols = p->A->cols;
    if (p->A->ops->can & (MGVI_CONTRAST | MGVI_KERNEL))
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED, "the prover takes rows of the data");
    if (cols > most_columns)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED, "the prover takes at most %" PRId64 " columns",
                         most_columns);
    mgvi_separate *s = mgvi_arena_array(arena, 1, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    s->p = p;
    mgvi_vec *const columns[] = {&s->w, &s->step, &s->grad};
    mgvi_vec *const rows[] = {&s->f, &s->Ap, &s->r, &s->q};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, cols, 1, columns[k]));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, n, 1, rows[k]));
    const size_t c = (size_t)cols;
    s->row = mgvi_arena_array(arena, (size_t)n, sizeof *s->row);
    s->col = mgvi_arena_array(arena, c, sizeof *s->col);
    s->at = mgvi_arena_array(arena, c, sizeof *s->at);
    s->unit = mgvi_arena_array(arena, c, sizeof *s->unit);
    s->rhs = mgvi_arena_array(arena, c, sizeof *s->rhs);
    s->h = mgvi_arena_array(arena, (size_t)n, sizeof *s->h);
    s->G = mgvi_arena_scratch(arena, c * c, sizeof *s->G);
    s->H = mgvi_arena_scratch(arena, c * c, sizeof *s->H);
    if (!s->row || !s->col || !s->at || !s->unit || !s->rhs || !s->h || !s->G || !s->H)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_problem_peel(p, arena, s->row, s->col));
    *out = s;
    return MGV_OK;
}

/* ---- linear systems in the live columns ------------------------------------------------------ */

/* H = (unit G unit)_live + ridge (trace/d) I, factored. False: not positive definite. */
static mgv_status factor(mgvi_separate *s, double ridge, bool *definite)
{
    const int64_t d = s->d, cols = s->p->A->cols;
    double trace = 0;
    int64_t pivot;
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < d; j++)
            s->H[i * d + j] = s->unit[i] * s->unit[j] * s->G[s->at[i] * cols + s->at[j]];
        trace += s->H[i * d + i];
    }
    for (int64_t i = 0; i < d; i++)
        s->H[i * d + i] += ridge * (trace > 0 ? trace / (double)d : 1);
    MGVI_TRY(mgvi_cholesky(s->p->ctx, d, s->H, d, &pivot));
    *definite = pivot < 0;
    return MGV_OK;
}

/* step = H^-1 grad on the live columns, 0 elsewhere. */
static mgv_status solve(mgvi_separate *s)
{
    for (int64_t j = 0; j < s->d; j++)
        s->rhs[j] = s->unit[j] * s->grad.x[s->at[j]];
    MGVI_TRY(mgvi_cholesky_solve(s->p->ctx, s->d, s->H, s->d, 1, s->rhs));
    mgvi_vec_fill(s->p->ctx, &s->step, 0);
    for (int64_t j = 0; j < s->d; j++)
        s->step.x[s->at[j]] = s->unit[j] * s->rhs[j];
    return MGV_OK;
}

/* The live columns, scaled by powers of two so that damping treats them alike. */
static mgv_status choose_columns(mgvi_separate *s)
{
    const int64_t cols = s->p->A->cols;
    s->live_rows = 0;
    for (int64_t i = 0; i < s->f.n; i++) {
        s->h[i] = s->row[i];
        s->live_rows += s->row[i];
    }
    MGVI_TRY(mgvi_op_gram(s->p->A, s->h, false, s->G, cols));
    s->d = 0;
    for (int64_t j = 0; j < cols; j++) {
        const double square = s->G[j * cols + j] / fmax((double)s->live_rows, 1);
        if (!s->col[j] || !(square > 0))
            continue;
        s->unit[s->d] = exp2(-rint(0.5 * log2(square)));
        s->at[s->d++] = (int32_t)j;
    }
    return MGV_OK;
}

/* ---- the line search ------------------------------------------------------------------------- */

/* -phi'(w + t p) = sum Ap_i (1 - f_i - t Ap_i)_+ and its slope, over the live rows. */
static double descent(const mgvi_separate *s, double t, double *slope)
{
    double sum = 0;
    *slope = 0;
    for (int64_t i = 0; i < s->f.n; i++) {
        const double a = s->Ap.x[i], left = 1 - s->f.x[i] - t * a;
        if (s->row[i] && left > 0) {
            sum += a * left;
            *slope += a * a;
        }
    }
    return sum;
}

/* The minimiser of phi along the step: Newton on the piecewise linear derivative, kept in a
 * bracket. It may lie beyond 1. */
static double line_search(const mgvi_separate *s)
{
    double slope, low = 0, high = INFINITY, t = 1;
    for (int k = 0; k < 60; k++) {
        const double down = descent(s, t, &slope);
        *(down > 0 ? &low : &high) = t;
        if (down == 0 || !(slope > 0))
            break;
        double next = t + down / slope;
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * t : 0.5 * (low + high);
        if (fabs(next - t) <= 1e-10 * t)
            break;
        t = next;
    }
    return t;
}

/* ---- the proof ------------------------------------------------------------------------------- */

/* q <- q - Q A (A'QA)^-1 A'q once, with the factor at hand and Q = diag(r). The least and the most
 * of q; false: it is too negative to become a proof. */
static mgv_status correct(mgvi_separate *s, double *least, double *most, bool *hopeful)
{
    mgvi_op_mul_t(s->p->A, 1, &s->q, 0, &s->grad);
    MGVI_TRY(solve(s));
    mgvi_op_mul(s->p->A, 1, &s->step, 0, &s->Ap);
    *most = *least = 0;
    for (int64_t i = 0; i < s->q.n; i++) {
        s->q.x[i] -= s->r.x[i] * s->Ap.x[i];
        *most = fmax(*most, s->q.x[i]);
        *least = fmin(*least, s->q.x[i]);
    }
    *hopeful = *least >= -0.01 * *most;
    return MGV_OK;
}

/* q = r, A'QA factored with a ridge: `exact` or from float32 products. */
static mgv_status prepare_proof(mgvi_separate *s, bool exact, double ridge, bool *definite)
{
    mgvi_vec_copy(s->p->ctx, &s->r, &s->q);
    MGVI_TRY(mgvi_op_gram(s->p->A, s->r.x, exact, s->G, s->p->A->cols));
    return factor(s, ridge, definite);
}

/* Whether q, made non-negative, is a proof to rounding, in the columns' own units. */
static bool proves(mgvi_separate *s)
{
    double sum, square = 0;
    for (int64_t i = 0; i < s->q.n; i++)
        s->q.x[i] = fmax(s->q.x[i], 0);
    mgvi_vec_sum(s->p->ctx, &s->q, &sum);
    mgvi_op_mul_t(s->p->A, 1, &s->q, 0, &s->grad);
    for (int64_t j = 0; j < s->d; j++)
        square += s->unit[j] * s->grad.x[s->at[j]] * (s->unit[j] * s->grad.x[s->at[j]]);
    return sum > 0 && sqrt(square) <= 1e-12 * sum * sqrt((double)s->d);
}

/* (6): q = r, then four corrections. They end at rounding level whatever r was; only the sign of q
 * decides. Most attempts are too early, and two corrections from float32 products, at a fraction of
 * the cost, show it. Rows that come out a little negative are left out (r_i = 0) and the rest tried
 * again. r is spoiled. */
static mgv_status prove(mgvi_separate *s, bool *proven)
{
    enum { TRIALS = 3 };
    bool definite, hopeful = true;
    double most = 0, least = 0;
    *proven = false;
    MGVI_TRY(prepare_proof(s, false, 1e-6, &definite));
    for (int round = 0; round < 2 && definite && hopeful; round++)
        MGVI_TRY(correct(s, &least, &most, &hopeful));
    if (definite && !(least >= -1e-4 * most))
        return MGV_OK;
    for (int trial = 0; trial < TRIALS && !*proven; trial++) {
        MGVI_TRY(prepare_proof(s, true, 1e-12, &definite));
        hopeful = definite;
        for (int round = 0; round < 4 && hopeful; round++)
            MGVI_TRY(correct(s, &least, &most, &hopeful));
        if (!hopeful)
            return MGV_OK;
        for (int64_t i = 0; i < s->q.n; i++)
            s->r.x[i] = s->q.x[i] < 0 ? 0 : s->r.x[i];
        *proven = least >= -1e-12 * most && proves(s);
    }
    return MGV_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* r = (1 - f)_+ and the weights of the second derivative; the number of rows below the margin. */
static int64_t residuals(mgvi_separate *s, double *least, double *sum)
{
    int64_t below = 0;
    *least = INFINITY;
    *sum = 0;
    for (int64_t i = 0; i < s->f.n; i++) {
        const bool active = s->row[i] && s->f.x[i] < 1;
        s->r.x[i] = active ? 1 - s->f.x[i] : 0;
        s->h[i] = active;
        below += active;
        *sum += s->r.x[i];
        if (s->row[i])
            *least = fmin(*least, s->f.x[i]);
    }
    return below;
}

static mgv_status newton_step(mgvi_separate *s, double *damping, double *t)
{
    mgv_ctx *ctx = s->p->ctx;
    bool definite;
    mgvi_op_mul_t(s->p->A, 1, &s->r, 0, &s->grad);
    /* float32 products are wrong by less than this damping */
    MGVI_TRY(mgvi_op_gram(s->p->A, s->h, *damping < SINGLE, s->G, s->p->A->cols));
    for (;;) {
        MGVI_TRY(factor(s, *damping, &definite));
        if (definite || *damping > 1)
            break;
        *damping *= 100;
    }
    MGVI_TRY(solve(s));
    mgvi_op_mul(s->p->A, 1, &s->step, 0, &s->Ap);
    *t = line_search(s);
    mgvi_vec_axpby(ctx, *t, &s->step, 1, &s->w);
    mgvi_vec_axpby(ctx, *t, &s->Ap, 1, &s->f);
    *damping = fmax(*damping * (*t > 0.9 ? 0.03 : *t > 0.5 ? 0.3 : *t > 0.2 ? 1 : 10), 1e-13);
    return MGV_OK;
}

mgv_status mgvi_separate_run(mgvi_separate *s, int most, mgvi_separable *answer, const mgvi_vec **w,
                             const mgvi_vec **q)
{
    double damping = 1e-2, t = 1, least, sum;
    bool proven = false;
    *answer = MGVI_SEPARABLE_UNKNOWN;
    *w = &s->w;
    *q = &s->q;
    MGVI_TRY(choose_columns(s));
    mgvi_vec_fill(s->p->ctx, &s->w, 0);
    mgvi_vec_fill(s->p->ctx, &s->f, 0);
    for (int k = 0; k < most; k++) {
        const int64_t below = residuals(s, &least, &sum);
        if (least > 0 || s->live_rows == 0) {
            *answer = MGVI_SEPARABLE_YES;
            return MGV_OK;
        }
        if (k > 0 && 5 * below > 4 * s->d && t > 0.2) {
            MGVI_TRY(prove(s, &proven));
            if (proven) {
                *answer = MGVI_SEPARABLE_NO;
                return MGV_OK;
            }
            residuals(s, &least, &sum);
        }
        MGVI_TRY(newton_step(s, &damping, &t));
    }
    return MGV_OK;
}
