/* class_coordinate.c - dual coordinate ascent for the loss crammer_singer, all dual variables of a
 * row at once; docs/algorithms/class_coordinate.md.
 *   W = -A'U/lambda,   u_i = q_i - s_i e_c,   q_i >= 0, sum_j q_ij = s_i                      (1)
 *   q_i <- the nearest point of that set to q_i + (z_i - e_c)/r,   r = |x_i|^2/lambda          (2)
 * with z_i = W x_i. A pass over all rows is followed by short ones over the rows that moved in the
 * last pass. With intercepts sum_i u_i = 0 is wanted: every row has an entry sqrt(tau) more, whose
 * weights are the intercepts' way from where they were, and after the passes they are pushed on:
 *   b = b_0 - tau/lambda sum_i u_i,   z_i = W x_i + b,   r = (|x_i|^2 + tau)/lambda            (3)
 *   b_0 <- b                                                                                   (4)
 */
#include "op/rows.h"

#include "base/limit.h"
#include "solver/joint/class_entropy.h"

#include <math.h>

enum { SHORT_PASSES = 5 };
/* In multiplications of a matrix product, for one class: an entry read, and a row beside its
 * entries. */
static const double ENTRY = 40, VISIT = 400;
/* tau of (3), as a part of the mean |x_i|^2 and at least of lambda: 0.1 to 0.5 take the fewest
 * passes on images, text and tables alike. */
static const double INTERCEPT_PART = 0.2, INTERCEPT_LEAST = 0.1;

typedef struct state {
    mgvi_rows *rows;
    mgvi_vec w, u;   /* columns, rows; w only when asked for */
    double *acc;     /* the weights of each class in the form of op/rows.h, one after the other */
    double *norm;    /* |x_i|^2 */
    double *z, *one; /* a row of scores; the weights of one class */
    double *sum;     /* of u over the rows, per class: 0 in the end */
    double tau;      /* square of the intercepts' entry in every row; 0: there are none */
    int32_t *order, *moved;
    struct memory {
        double gap, loss, lead; /* of the last full pass, each row as it was when visited */
    } m;
} state;

static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    if (p->A->rows > INT32_MAX)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver class_coordinate takes at most 2^31 rows; there are %" PRId64,
                         p->A->rows);
    return MGV_OK;
}

static double mean_square(const state *s, const mgv_problem *p)
{
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < s->u.n; i++) {
        sum += mgvi_coef_pick(&p->row.scale, i, 0) * s->norm[i];
        weight += mgvi_coef_pick(&p->row.scale, i, 0);
    }
    return sum / weight;
}

/* q = 0 for every class but the row's own: u = 0 and W = 0. */
static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, k = p->lanes;
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    const int64_t length = mgvi_rows_acc_len(s->rows);
    s->acc = mgvi_run_array(run, (size_t)(k * length), sizeof *s->acc);
    s->norm = mgvi_run_array(run, (size_t)n, sizeof *s->norm);
    s->z = mgvi_run_array(run, (size_t)k, sizeof *s->z);
    s->one = mgvi_run_array(run, (size_t)p->A->cols, sizeof *s->one);
    s->sum = mgvi_run_array(run, (size_t)k, sizeof *s->sum);
    s->order = mgvi_run_array(run, (size_t)n, sizeof *s->order);
    s->moved = mgvi_run_array(run, (size_t)n, sizeof *s->moved);
    if (!s->acc || !s->norm || !s->z || !s->one || !s->sum || !s->order || !s->moved)
        return MGV_E_MEMORY;
    mgvi_rows_square_norms(s->rows, s->norm);
    for (int64_t i = 0; i < n; i++)
        s->order[i] = (int32_t)i;
    if (p->free_cols)
        s->tau = fmax(INTERCEPT_PART * mean_square(s, p), INTERCEPT_LEAST * p->lambda);
    s->m.gap = INFINITY;
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u.x, n * k));
    MGVI_TRY(mgvi_run_keep(run, "acc", MGVI_T_F64, s->acc, k * length));
    MGVI_TRY(mgvi_run_keep(run, "order", MGVI_T_I32, s->order, n));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* t becomes the nearest point u of {u_j >= 0 but for c, u_c >= -weight, sum u = 0}: a common shift,
 * and what it makes negative is 0. Dropping entries only raises the shift, so those dropped stay
 * out; q_c = weight + u_c goes last and alone, so that a u that is nothing beside the weight keeps
 * its digits.                                                                               (2) */
static void project(double *t, int32_t k, int32_t c, double weight)
{
    double shift = -INFINITY, own = t[c], others = 0;
    bool free = true; /* q_c > 0 */
    for (int32_t round = 0; round <= k; round++) {
        double sum = free ? own : -weight, count = free ? 1 : 0;
        for (int32_t j = 0; j < k; j++)
            if (j != c && t[j] > shift) {
                sum += t[j];
                count++;
            }
        const double next = sum / count;
        if (next > shift)
            shift = next;
        else if (free && weight + (own - shift) < 0)
            free = false; /* and once more: without it the shift is larger */
        else
            break;
    }
    for (int32_t j = 0; j < k; j++)
        if (j != c)
            others += t[j] = fmax(t[j] - shift, 0);
    t[c] = -fmin(others, weight);
}

/* The best u_i for the others as they are, left in z. A row of zeros has nothing to weigh: its
 * loss is 1 whatever W is, and any other class may carry it. */
static void best_row(const state *s, double r, double weight, const double *u, int32_t c)
{
    const int32_t k = s->u.k;
    for (int32_t j = 0; j < k; j++)
        s->z[j] = r > 0 ? u[j] + (s->z[j] - (j == c)) / r : 0;
    if (r > 0) {
        project(s->z, k, c, weight);
    } else {
        s->z[c] = -weight;
        s->z[c == 0] = weight;
    }
}

/* The score of class c over the best other one. */
static double lead_of(const double *z, int32_t k, int32_t c)
{
    double best = -INFINITY;
    for (int32_t j = 0; j < k; j++)
        best = j == c ? best : fmax(best, z[j]);
    return z[c] - best;
}

/* Visits row i; true when it moved. */
static bool visit(mgvi_run *run, state *s, int64_t i, bool measure)
{
    const mgv_problem *p = run->problem;
    const int32_t k = s->u.k, c = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
    const int64_t length = mgvi_rows_acc_len(s->rows);
    const double weight = mgvi_coef_pick(&p->row.scale, i, 0);
    double *u = s->u.x + i * k, product = 0, change = 0, size = 0;
    for (int32_t j = 0; j < k; j++) {
        s->z[j] = mgvi_rows_dot(s->rows, i, s->acc + j * length);
        product += s->z[j] * u[j];
    }
    const double entries = (double)mgvi_rows_nnz(s->rows, i);
    run->touched += entries;
    run->work += (k - 1) * ENTRY * entries + k * VISIT; /* every class reads them anew */
    if (measure) {
        const double loss = p->loss->joint->value(weight, s->z, k, c);
        s->m.loss += loss;
        s->m.lead = weight > 0 ? fmin(s->m.lead, lead_of(s->z, k, c)) : s->m.lead;
        s->m.gap += loss + p->loss->joint->conj(weight, u, k, c) - product;
    }
    best_row(s, (s->norm[i] + s->tau) / p->lambda, weight, u, c);
    for (int32_t j = 0; j < k; j++) {
        const double next = s->z[j], step = next - u[j];
        if (fabs(step) <= 1e-15 * fmax(fabs(next), fabs(u[j])))
            continue;
        mgvi_rows_axpy(s->rows, i, -step / p->lambda, s->acc + j * length);
        if (s->tau > 0) /* the row kernels' entry is 1 */
            s->acc[(j + 1) * length - 1] -= (s->tau - 1) * step / p->lambda;
        change = fmax(change, fabs(step));
        size = fmax(size, fmax(fabs(next), fabs(u[j])));
        u[j] = next;
    }
    return change > 1e-12 * size;
}

/* (4): the intercepts are pushed on by what the sums of u still lack to 0. */
static void push_intercepts(mgvi_run *run, state *s)
{
    const int64_t length = mgvi_rows_acc_len(s->rows);
    mgvi_vec_sum(run->ctx, &s->u, s->sum);
    for (int32_t j = 0; j < s->u.k; j++)
        s->acc[(j + 1) * length - 1] -= s->tau * s->sum[j] / run->problem->lambda;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    int64_t count = s->u.n, moved = 0;
    s->m.gap = s->m.loss = 0;
    s->m.lead = INFINITY;
    mgvi_rng_shuffle(&run->rng, s->order, count);
    for (int64_t t = 0; t < count && !mgvi_ctx_cut_row(run->ctx, t); t++)
        if (visit(run, s, s->order[t], true))
            s->moved[moved++] = s->order[t];
    for (int pass = 0; pass < SHORT_PASSES && moved > 0 && moved < count; pass++) {
        count = moved;
        moved = 0;
        mgvi_rng_shuffle(&run->rng, s->moved, count);
        for (int64_t t = 0; t < count && !mgvi_ctx_cut_row(run->ctx, t); t++)
            if (visit(run, s, s->moved[t], false))
                s->moved[moved++] = s->moved[t];
    }
    if (s->tau > 0)
        push_intercepts(run, s);
    return MGV_OK;
}

/* The least score of a row's own class over the others'. */
static double least_lead(const mgvi_run *run, const state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t length = mgvi_rows_acc_len(s->rows);
    double least = INFINITY;
    for (int64_t i = 0; i < s->u.n && !mgvi_ctx_cut_row(run->ctx, i); i++) {
        const int32_t c = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        if (!(mgvi_coef_pick(&p->row.scale, i, 0) > 0))
            continue;
        const double own = mgvi_rows_dot(s->rows, i, s->acc + c * length);
        for (int32_t j = 0; j < s->u.k; j++)
            if (j != c)
                least = fmin(least, own - mgvi_rows_dot(s->rows, i, s->acc + j * length));
    }
    return least;
}

static bool pays(double ridge, double loss, double lead)
{
    return lead > 0 && lead < 1 && ridge / (lead * lead) < ridge + loss;
}

/* By what W is multiplied before it is shown. Near a hard margin what rows yet lack of theirs costs
 * more than a W that is longer by as much and lacks nothing: lambda/2 |W|^2 t^2 with t = 1/lead. */
static double stretch(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    double square = 0;
    if (p->A->ops->can & MGVI_KERNEL)
        return 1;
    for (int64_t t = 0; t < mgvi_problem_penalised(p) * s->w.k; t++)
        square += s->w.x[t] * s->w.x[t];
    const double ridge = p->lambda / 2 * square, seen = s->m.lead;
    if (!pays(ridge, s->m.loss, seen))
        return 1;
    const double lead = least_lead(run, s);
    return pays(ridge, s->m.loss, lead) ? 1 / lead : 1;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    const int64_t length = mgvi_rows_acc_len(s->rows);
    for (int32_t c = 0; c < s->w.k; c++) {
        mgvi_rows_weights(s->rows, s->acc + c * length, s->one);
        for (int64_t j = 0; j < s->w.n; j++)
            s->w.x[j * s->w.k + c] = s->one[j];
    }
    mgvi_vec_scale(run->ctx, stretch(run, s), &s->w);
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

/* The rows' own gaps as they were met add up to about the gap of the whole. */
static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.gap / fmax(s->m.loss, 1e-300);
}

/* Of a pass over all rows. */
static double pass_work(const mgv_problem *p)
{
    return p->lanes * (ENTRY * (double)p->A->nnz + VISIT * (double)p->A->rows);
}

/* Passes that are enough where rows are no more than unknowns or far apart; tall tables may need
 * hundreds (docs/algorithms/class_newton.md). */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    static const double PASSES = 15, WIDE = 500, TALL = 10, BY_KERNEL = 100;
    const double n = (double)p->A->rows, unknowns = (double)p->A->cols * p->lanes;
    (void)settings;
    if (p->A->ops->can & MGVI_KERNEL) /* the classes share its values */
        return BY_KERNEL * (1 + sqrt(1 / (p->lambda * n))) * ENTRY * (double)p->A->nnz;
    if (mgvi_class_entropy_fits(p)) /* 60 where rows are of length 1 or far apart, else thousands */
        return WIDE * pass_work(p);
    return PASSES * (1 + TALL * fmax(0, n / unknowns - 1)) * pass_work(p);
}

/* Tall tables whose rows are hardly weighed end as soon as wide ones, and text whose rows are alike
 * in length. */
static double trial(const mgv_problem *p, const mgv_settings *settings)
{
    static const double PASSES = 10, MANY = 30, WIDE = 100;
    (void)settings;
    if (p->A->ops->can & MGVI_KERNEL)
        return INFINITY;
    return (mgvi_class_dual_fits(p)     ? WIDE
            : mgvi_class_columns_fit(p) ? MANY /* a step of the other costs as many */
                                        : PASSES) *
           pass_work(p);
}

const mgvi_solver_ops mgvi_solver_class_coordinate = {
    .name = "class_coordinate",
    .summary = "dual coordinate ascent over rows, loss crammer_singer",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_JOINT, .op = MGVI_ROW},
    .no = {.penalty = MGVI_ABS, .loss = MGVI_SMOOTH},
    .kernels = true,
    .fits = fits,
    .cost = cost,
    .trial = trial,
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
};
