/* proof.c - that no w meets the constraints, proven for the numbers given.
 *
 * By Farkas there is no w when some u has A'u = 0 and a negative support value
 * sigma(u) = sum_i t_i u_i, t_i the end of row i's set on the side of u_i's sign; for a margin
 * u = -q, q >= 0, and sigma = -sum q. A'u = 0 must hold exactly: what is zero up to rounding proves
 * nothing (1e16 and 1e16 + 2 are two numbers). So a u that is found in floating point is believed
 * only when
 *   two equal examples have different labels,                                     (opposite.c)
 *   or an exact u of the same signs is shown to exist beside it,                  (nearby.c)
 *   or its rows have one dependency, whose signs are computed modulo primes.      (residues.c)
 * docs/algorithms/certificates.md, "Proofs". */
#include "base/limit.h"
#include "certify/correct.h"
#include "certify/residues.h"
#include "certify/support.h"
#include "op/contrast.h"
#include "op/features.h"

/* Multiplications: about a second of either kind. */
static const double MOST_NEARBY = 2e10, MOST_RESIDUES = 1e9;
/* Of a column's size: worth a look whether an exact proof is near. */
static const double HOPEFUL = 1e-6;

/* ---- from there to the truth ------------------------------------------------------------------
 */

static void declare_proven(mgvi_judge *judge, double norm, mgvi_verdict *verdict)
{
    mgv_certificate *c = &verdict->certificate;
    c->separable = 0;
    c->proof_norm = norm;
    if (mgvi_problem_has_margin(judge->problem))
        c->margin_upper = norm;
    c->verified = 1;
}

/* t_i for u_i's sign. The ends of an interval are roundings of y +- epsilon: outwards. */
static double target_of(const mgv_problem *p, int64_t i, double u)
{
    const double side = u > 0 ? 1 : -1;
    const double t = side * p->loss->conj(mgvi_coefs_at(&p->row, i, 0), side);
    return p->loss->can & MGVI_BETWEEN ? nextafter(t, side * INFINITY) : t;
}

/* sigma(u') < 0 for every u' whose entries are at most `change` of u's away. */
static bool support_is_negative(const mgv_problem *p, const mgvi_proof_support *s, double change)
{
    mgvi_two sum = {0, 0};
    double size = 0;
    for (int64_t t = 0; t < s->m; t++) {
        const double end = target_of(p, s->row[t], s->dual[t]);
        sum = mgvi_two_fma(sum, end, s->dual[t]);
        size += fabs(end * s->dual[t]);
    }
    const double factors = mgvi_raw_base(s->rows)->view.row_scale ? 0x1p-50 : 0; /* of the rows */
    const double rounding = (((double)s->m + 8) * MGVI_TWO_UNIT + factors + change) * size;
    return mgvi_two_real(sum) + rounding * (1 + 0x1p-20) < 0;
}

/* The rows are the data's own: not scaled, nor centred without an intercept to undo it. */
static bool rows_are_exact(const mgv_problem *p, const mgvi_proof_support *s)
{
    const mgvi_rows *base = mgvi_raw_base(s->rows);
    return s->fuzz == 0 && !(base->view.row_scale && !(p->loss->can & MGVI_MARGIN)) &&
           !(base->view.centre && !base->view.intercept);
}

/* On a few rows: their one dependency. */
static mgv_status prove_by_residues(const mgv_problem *p, const mgvi_proof_support *s,
                                    mgvi_arena *arena, const double *a, bool *proven)
{
    double *target = mgvi_arena_array(arena, (size_t)s->m, sizeof *target);
    int8_t *sign = mgvi_arena_array(arena, (size_t)s->m, sizeof *sign);
    if (!target || !sign)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < s->m; t++) {
        sign[t] = s->dual[t] < 0 ? -1 : 1;
        target[t] = target_of(p, s->row[t], s->dual[t]);
    }
    const mgvi_dependency d = {.m = s->m, .c = s->c, .a = a, .sign = sign, .target = target};
    return mgvi_dependency_prove(p->ctx, &d, MOST_RESIDUES, proven);
}

/* Nearby, in columns that imply the others. */
static mgv_status prove_nearby(const mgv_problem *p, const mgvi_proof_support *s,
                               const int32_t *col, int64_t count, bool *proven)
{
    double change;
    MGVI_TRY(mgvi_support_nearby(p->ctx, s, col, count, MOST_NEARBY, &change));
    *proven = change < 1 && support_is_negative(p, s, change);
    return MGV_OK;
}

/* By all columns, which need not be independent. */
static mgv_status prove_dependent(const mgv_problem *p, const mgvi_proof_support *s,
                                  mgvi_arena *arena, int32_t *col, bool *proven)
{
    const double m = (double)s->m, c = (double)s->c;
    int64_t count;
    if (!rows_are_exact(p, s) || m * c * fmin(m, c) > MOST_RESIDUES)
        return MGV_OK;
    double *a;
    MGVI_TRY(MGVI_ARRAY(arena, a, (size_t)(s->m * s->c)));
    for (int64_t t = 0; t < s->m; t++)
        mgvi_support_raw_row(s, t, a + t * s->c);
    if (s->m <= s->c + 1)
        MGVI_TRY(prove_by_residues(p, s, arena, a, proven));
    if (*proven)
        return MGV_OK;
    MGVI_TRY(mgvi_columns_prove(p->ctx, s->m, s->c, a, MOST_RESIDUES, col, &count));
    return count > 0 && count < s->c ? prove_nearby(p, s, col, count, proven) : MGV_OK;
}

/* The largest column, in its own size. */
static double largest_sum(const mgvi_proof_support *s)
{
    double most = s->m > 0 ? 0 : INFINITY;
    for (int64_t j = 0; j < s->c; j++)
        most = fmax(most, s->sum[j] > 0 ? s->sum[j] / s->size[j] : 0);
    return most;
}

/* Columns that depend on each other take residues, a second's work. */
typedef enum effort { QUICKLY, THOROUGHLY } effort;

static mgv_status prove_exactly(mgvi_judge *judge, const mgvi_rows *rows, double fuzz, effort how,
                                mgvi_arena *arena, bool *proven)
{
    const mgv_problem *p = judge->problem;
    mgvi_proof_support s;
    MGVI_TRY(mgvi_support_open(&s, arena, rows, fuzz, mgvi_vec_host(&judge->u)));
    judge->left = mgvi_lp_norm(s.sum, s.c, 2);
    const double most = largest_sum(&s);
    const bool hopeful = most <= HOPEFUL && support_is_negative(p, &s, 0);
    judge->nearly = hopeful && most <= MGVI_NEARLY;
    if (!hopeful)
        return MGV_OK;
    int32_t *col;
    MGVI_TRY(MGVI_ARRAY(arena, col, s.c));
    for (int64_t j = 0; j < s.c; j++)
        col[j] = (int32_t)j;
    MGVI_TRY(prove_nearby(p, &s, col, s.c, proven));
    const bool wanted = !*proven && judge->nearly && how == THOROUGHLY;
    return wanted ? prove_dependent(p, &s, arena, col, proven) : MGV_OK;
}

/* u as it is, from rows whose entries have a relative error of `fuzz`. */
static bool holds(mgvi_judge *judge, const mgvi_rows *rows, double fuzz, effort how)
{
    mgvi_arena arena;
    bool proven = false;
    mgvi_arena_init(&arena, judge->problem->ctx);
    if (prove_exactly(judge, rows, fuzz, how, &arena, &proven) != MGV_OK)
        judge->problem->A->failed = MGV_E_MEMORY;
    mgvi_arena_free(&arena);
    return proven;
}

/* ---- rows of the data -------------------------------------------------------------------------
 */

/* Two equal examples with different labels, once and for all. */
static bool find_opposites(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const mgvi_rows *base = mgvi_raw_base(judge->rows);
    bool found = false;
    if (judge->compared || !mgvi_problem_has_margin(p) || base->view.row)
        return false;
    if (mgvi_problem_opposites(p, &base->m, &judge->u, &found) != MGV_OK)
        p->A->failed = MGV_E_MEMORY;
    judge->compared = !mgvi_ctx_was_cut(p->ctx);
    return found;
}

/* u, or u without rows whose weights are but rounding: a column that is only theirs has no balance,
 * and one that they alone keep independent of others has a weak one. Else u is left as it is. */
static bool prove_without_dust(mgvi_judge *judge)
{
    mgvi_vec *kept = &judge->Aq;
    if (holds(judge, judge->rows, 0, QUICKLY))
        return true;
    mgvi_vec_copy(judge->problem->ctx, &judge->u, kept);
    for (double part = MGVI_NEARLY; part < HOPEFUL; part *= 32)
        if (mgvi_proof_drop(judge, part) && holds(judge, judge->rows, 0, QUICKLY))
            return true;
    mgvi_vec_copy(judge->problem->ctx, kept, &judge->u);
    return false;
}

/* The weights of a proof are shown: where an exact one is only near they are corrected once more.
 */
static bool prove_and_round_off(mgvi_judge *judge, int most_steps)
{
    if (!prove_without_dust(judge))
        return false;
    if (judge->nearly)
        return true;
    mgvi_proof_weigh(judge);
    return mgvi_proof_correct(judge, most_steps) && holds(judge, judge->rows, 0, QUICKLY) &&
           judge->nearly;
}

/* As it comes, where it is zero up to rounding; else, and where that is no proof, corrected. */
static bool prove_corrected(mgvi_judge *judge, int most_steps)
{
    mgvi_proof_weigh(judge);
    if (most_steps == 0)
        return holds(judge, judge->rows, 0, THOROUGHLY);
    if (mgvi_proof_residual(judge) <= MGVI_NEARLY && prove_and_round_off(judge, most_steps))
        return true;
    if (!mgvi_proof_correct(judge, most_steps))
        return false;
    return prove_and_round_off(judge, most_steps) ||
           (holds(judge, judge->rows, 0, THOROUGHLY) && judge->nearly);
}

static bool prove_by_rows(mgvi_judge *judge, const mgvi_vec *start, int most_steps,
                          mgvi_verdict *verdict)
{
    const mgv_problem *p = judge->problem;
    double norm;
    mgvi_vec_copy(p->ctx, start, &judge->u);
    if (!mgvi_proof_clip(judge, INFINITY) || !prove_corrected(judge, most_steps)) {
        const bool found =
            find_opposites(judge); /* sorts all rows: only where nothing else helps */
        if (found)
            declare_proven(judge, 0, verdict);
        return found;
    }
    mgvi_op_mul_t(p->A, 1, &judge->u, 0, &judge->residual);
    mgvi_vec_norm2(p->ctx, &judge->residual, &norm);
    declare_proven(judge, norm, verdict);
    return true;
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

/* The examples that u weighs, and where they are in a table of them: per example. */
static mgv_status weighed_examples(const mgvi_judge *judge, mgvi_arena *arena, int64_t k,
                                   int64_t **example, int64_t **at, int64_t *count)
{
    const int64_t n = judge->u.n / k;
    const double *u = mgvi_vec_host(&judge->u);
    *example = mgvi_arena_array(arena, (size_t)n, sizeof **example);
    *at = mgvi_arena_array(arena, (size_t)n, sizeof **at);
    *count = 0;
    if (!*example || !*at)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < judge->u.n; i++) {
        const int64_t e = i / k;
        if (u[i] == 0 || (*count > 0 && (*example)[*count - 1] == e))
            continue;
        (*at)[e] = *count;
        (*example)[(*count)++] = e;
    }
    return MGV_OK;
}

/* A kernel of few features is a linear problem in them. */
static mgv_status prove_by_features(mgvi_judge *judge, mgvi_arena *arena, bool *proven)
{
    const mgv_problem *p = judge->problem;
    const mgvi_contrast *contrast = mgvi_contrast_of(p->A);
    mgvi_kernel_op *kernel = mgvi_kernel_of(contrast ? contrast->base : p->A);
    const int64_t k = contrast ? contrast->k : 1;
    mgvi_feature_table table;
    int64_t *example, *at, count;
    MGVI_TRY(weighed_examples(judge, arena, k, &example, &at, &count));
    MGVI_TRY(mgvi_kernel_table(kernel, arena, example, count, &table));
    if (!table.known)
        return MGV_OK;
    mgvi_rows rows = {.ctx = p->ctx,
                      .m = table.m,
                      .count = judge->u.n / k,
                      .view.row = table.whole ? NULL : at,
                      .view.intercept = p->free_cols > 0 && !table.constant,
                      .view.sign = contrast ? NULL : p->view.sign};
    mgvi_rows pairs = {.ctx = p->ctx, .count = judge->u.n, .example = &rows};
    if (contrast) {
        pairs.own = contrast->own;
        pairs.classes = contrast->k;
    }
    *proven = holds(judge, contrast ? &pairs : &rows, table.error, THOROUGHLY);
    return MGV_OK;
}

/* Two equal examples with different labels, if there are such, are the shortest proof, and the only
 * one there can be with rbf and laplace, where different points are independent. */
static bool prove_by_kernel(mgvi_judge *judge, const mgvi_vec *start, mgvi_verdict *verdict)
{
    const mgv_problem *p = judge->problem;
    bool proven = false;
    double size = 0;
    if (!mgvi_problem_has_margin(p))
        return false;
    if (mgvi_problem_opposites(p, NULL, &judge->u, &proven) != MGV_OK)
        p->A->failed = MGV_E_MEMORY;
    if (!proven) {
        mgvi_arena arena;
        mgvi_vec_copy(p->ctx, start, &judge->u);
        if (!mgvi_proof_clip(judge, INFINITY))
            return false;
        mgvi_arena_init(&arena, p->ctx);
        if (prove_by_features(judge, &arena, &proven) != MGV_OK)
            p->A->failed = MGV_E_MEMORY;
        mgvi_arena_free(&arena);
        size = judge->left;
    }
    if (proven)
        declare_proven(judge, size, verdict);
    return proven;
}

bool mgvi_judge_prove(mgvi_judge *judge, const mgvi_vec *start, int most_steps,
                      mgvi_verdict *verdict)
{
    mgvi_verdict found = *verdict;
    judge->nearly = false;
    const bool proven = judge->problem->A->ops->square
                            ? prove_by_kernel(judge, start, &found)
                            : judge->rows && prove_by_rows(judge, start, most_steps, &found);
    if (mgvi_ctx_was_cut(judge->problem->ctx)) { /* parts of it were left out: worth nothing */
        judge->nearly = false;
        return false;
    }
    *verdict = found;
    return proven;
}

bool mgvi_judge_nearly_proven(const mgvi_judge *judge) { return judge->nearly; }
