/* kernel_svm.c - hard and soft margins in the feature space of a kernel: cold working sets,
 * pairwise ascent on their block of K, full rows only for examples that carry weight;
 * docs/algorithms/kernel.md.
 *
 *   W = some rows of each class
 *   repeat  c = argmax of (6) on W to eps, c_i = -y_i u_i / lambda                              (8)
 *           f = K c on all rows, from the rows of K with c_i != 0
 *           the k rows with the smallest y_i (f_i + b) < 1 outside W join W; eps falls          (9)
 *
 * With lambda/2 |w|^2 + sum s_i G: hinge has the box |c_i| <= s_i / lambda and r = 0, the squared
 * hinge no box and r_i = lambda / s_i, the hard margin neither. Values of K may be float32: when
 * the judge, who is float64, does not agree with our estimate, we go on in float64. (10) */
#include "op/kernel.h"
#include "solver/kernel/kernel_margin.h"
#include "solver/shared/ranking.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    JOIN = 400,       /* rows that join W in a round */
    MOST_UPDATES = 16 /* of f before it is made from c again */
};

/* Values of K swept over in a round's ascent. */
static const double MOST_WORK = 1e8;
/* Largest violation after the first round's ascent; float32 kernels are left above this C. */
static const double FIRST_EPS = 0.3, MOST_C_FLOAT = 1000;
/* Multipliers beyond this, in units of 1/max K_ii, say that the margin is lost in rounding. */
static const double MOST_MULTIPLIER = 1e8;

typedef mgvi_kernel_margin state;

/* ---- the start ------------------------------------------------------------------------------- */

static bool is_hard(const mgv_problem *p) { return p->loss->can & MGVI_HARD; }
static bool is_squared(const mgv_problem *p)
{
    return (p->loss->can & MGVI_HALVED) && (p->loss->can & MGVI_MARGIN);
}

static mgv_status allocate(mgvi_run *run, state *s)
{
    const size_t n = (size_t)run->problem->A->rows;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->now, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    MGVI_TRY(MGVI_VECTORS(&run->arena, n, &s->bound, &s->ridge, &s->f, &s->before, &s->z));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->W, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->in_W, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->order, n));
    MGVI_TRY(mgvi_run_keep(run, "now", MGVI_T_F64, s->now.x, s->now.n));
    MGVI_TRY(mgvi_run_keep(run, "f", MGVI_T_F64, s->f, (int64_t)n));
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w.x, s->w.n));
    MGVI_TRY(mgvi_run_keep(run, "working_set", MGVI_T_I64, s->W, (int64_t)n));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* Boxes, ridges and the limit; returns the largest C_i = s_i / lambda of a hinge. */
static double bind_rows(const mgv_problem *p, state *s)
{
    const double *diagonal = mgvi_kernel_diagonal(s->kernel);
    double most = 0, longest = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double C = mgvi_coef_pick(&p->row.scale, i, 0) / p->lambda;
        const bool boxed = !is_hard(p) && !is_squared(p);
        s->bound[i] = C == 0 ? 0 : boxed ? C : INFINITY;
        s->ridge[i] = is_squared(p) && C > 0 ? 1 / C : 0;
        most = boxed ? fmax(most, C) : most;
        longest = fmax(longest, diagonal[i]);
    }
    s->limit = is_hard(p) && longest > 0 ? MOST_MULTIPLIER / longest : 0;
    return most;
}

/* Rows first.. of W take their places and their part of K. */
static mgv_status place_rows(mgvi_run *run, state *s, int64_t first)
{
    mgvi_pairs *a = &s->pairs;
    const int64_t count = s->m.size - first, size = s->m.size;
    const double *diagonal = mgvi_kernel_diagonal(s->kernel);
    a->dtype = mgvi_kernel_fast(s->kernel);
    const int64_t most = run->problem->A->rows + 1;
    const int64_t wanted = size + 1 > a->capacity ? size + size / 2 + 8 : size + 1;
    MGVI_TRY(mgvi_pairs_grow(a, &run->arena, wanted < most ? wanted : most));
    const size_t value = a->dtype == MGV_F32 ? sizeof(float) : sizeof(double);
    MGVI_TRY(mgvi_kernel_among(s->kernel, s->W + first, count, s->W, size, a->dtype,
                               mgvi_pairs_row(a, first + 1) + value, a->capacity));
    for (int64_t t = first; t < size; t++) {
        const int64_t i = s->W[t];
        const double y = mgvi_problem_free_entry(run->problem, i);
        a->diagonal[t + 1] = diagonal[i] + s->ridge[i];
        a->ridge[t + 1] = s->ridge[i];
        a->lo[t + 1] = y > 0 ? 0 : -s->bound[i];
        a->hi[t + 1] = y > 0 ? s->bound[i] : 0;
        char *row = mgvi_pairs_row(a, t + 1);
        if (a->dtype == MGV_F32)
            ((float *)row)[t + 1] = (float)diagonal[i];
        else
            ((double *)row)[t + 1] = diagonal[i];
    }
    mgvi_pairs_mirror(a, first + 1, size + 1);
    a->size = size + 1;
    return MGV_OK;
}

static void join(state *s, const int64_t *rows, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        s->W[s->m.size++] = rows[t];
        s->in_W[rows[t]] = true;
    }
}

/* Random rows, as many of each class as there are, but not fewer than a quarter of either. */
static void first_rows(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows;
    int64_t side[2] = {0, 0}, usable = 0;
    for (int64_t i = 0; i < n; i++)
        if (s->bound[i] > 0) {
            side[mgvi_problem_free_entry(p, i) > 0]++;
            s->order[usable++] = i;
        }
    for (int64_t t = usable - 1; t > 0; t--) {
        const int64_t r = (int64_t)mgvi_rng_below(&run->rng, (uint64_t)t + 1);
        const int64_t other = s->order[r];
        s->order[r] = s->order[t];
        s->order[t] = other;
    }
    const int64_t start = usable < JOIN ? usable : JOIN;
    int64_t plus = usable > 0 ? start * side[1] / usable : 0;
    plus = plus < start / 4 ? start / 4 : plus > start - start / 4 ? start - start / 4 : plus;
    int64_t left[2] = {start - plus, plus};
    for (int c = 0; c < 2; c++)
        if (left[c] > side[c]) {
            left[!c] += left[c] - side[c];
            left[c] = side[c];
        }
    for (int64_t t = 0; t < usable; t++)
        if (left[mgvi_problem_free_entry(p, s->order[t]) > 0]-- > 0)
            join(s, s->order + t, 1);
}

/* Everything in float64 from here on. */
static mgv_status go_exact(mgvi_run *run, state *s)
{
    MGVI_TRY(mgvi_kernel_make_exact(s->kernel));
    s->m.exact = true;
    s->m.primal = INFINITY; /* what float32 made of them */
    s->m.dual = -INFINITY;
    s->m.estimate = NAN;
    s->m.flat = 0;
    s->pairs = (mgvi_pairs){.ctx = run->ctx, .dtype = MGV_F64, .limit = s->limit};
    mgvi_kernel_combine(s->kernel, s->now.x, s->f);
    return MGV_OK;
}

/* The block of K from W, and the place at the origin, which moves when there is no intercept. */
static mgv_status rebuild(mgvi_run *run, state *s)
{
    s->pairs =
        (mgvi_pairs){.ctx = run->ctx, .dtype = mgvi_kernel_fast(s->kernel), .limit = s->limit};
    const int64_t size = s->m.size, n = run->problem->A->rows;
    const int64_t room = size + 2 * JOIN < n ? size + 2 * JOIN + 1 : n + 1;
    MGVI_TRY(mgvi_pairs_grow(&s->pairs, &run->arena, room));
    s->pairs.size = 1;
    const bool moves = run->problem->free_cols == 0;
    s->pairs.lo[0] = moves ? -INFINITY : 0;
    s->pairs.hi[0] = moves ? INFINITY : 0;
    return place_rows(run, s, 0);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    s->kernel = mgvi_kernel_of(p->A);
    MGVI_TRY(allocate(run, s));
    const double most = bind_rows(p, s);
    s->m = (mgvi_kernel_margin_memory){
        .eps = FIRST_EPS, .estimate = NAN, .primal = INFINITY, .dual = -INFINITY};
    s->on_cores = !is_hard(p) && !is_squared(p) && mgvi_cores_fit(p);
    if (s->on_cores)
        return mgvi_core_rounds_open(run, s, most);
    first_rows(run, s);
    if (most > MOST_C_FLOAT && mgvi_kernel_fast(s->kernel) == MGV_F32) {
        mgvi_log(run->ctx, MGV_INFO,
                 "C = %g: multipliers so large need the kernel in float64, not float32", most);
        MGVI_TRY(go_exact(run, s));
    }
    return rebuild(run, s);
}

/* ---- a round --------------------------------------------------------------------------------- */

/* (8), from f as it is; c and the intercept go to `now`. */
static mgv_status ascend(mgvi_run *run, state *s)
{
    mgvi_pairs *a = &s->pairs;
    const mgv_problem *p = run->problem;
    for (int64_t t = 0; t < s->m.size; t++) {
        const int64_t i = s->W[t];
        const double c = s->now.x[i];
        a->c[t + 1] = c;
        a->v[t + 1] = mgvi_problem_free_entry(p, i) - s->f[i] - s->ridge[i] * c;
    }
    a->c[0] = a->v[0] = 0;
    mgvi_pairs_mark(a);
    double work;
    s->m.eps = fmax(s->m.eps, mgvi_kernel_margin_least_eps(s));
    MGVI_TRY(mgvi_pairs_core_run(&s->core, a, &run->arena, s->m.eps, MOST_WORK, &work));
    for (int64_t t = 0; t < s->m.size; t++)
        s->now.x[s->W[t]] = a->c[t + 1];
    if (p->free_cols && isfinite(a->most + a->least))
        s->now.x[s->now.n - 1] = 0.5 * (a->most + a->least);
    run->touched += work;
    return MGV_OK;
}

/* (9). The intercept is that of W, not the best one for all rows: on overlapping classes the
 * two are apart by more than 1 at first, no row of one class would violate anything and join,
 * and sum c = 0 caps the other class by what the first has in W. */
static mgv_status widen(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const double own = 0.5 * (s->pairs.most + s->pairs.least);
    const double b = !p->free_cols ? 0 : isfinite(own) ? own : s->now.x[s->now.n - 1];
    const double enough = 1 - 0.3 * run->settings->tol;
    int64_t count = 0;
    double worst = 0;
    for (int64_t i = 0; i < s->u.n; i++) {
        s->z[i] = mgvi_problem_free_entry(p, i) * (s->f[i] + b);
        if (s->in_W[i] || s->bound[i] == 0 || s->z[i] >= enough)
            continue;
        worst = fmax(worst, 1 - s->z[i]);
        s->order[count++] = i;
    }
    const int64_t most = count < JOIN ? count : JOIN, first = s->m.size;
    if (count > most)
        mgvi_select_smallest(s->z, s->order, count, most);
    join(s, s->order, most);
    if (count < JOIN / 8)
        s->m.eps /= 10;
    else
        s->m.eps = fmax(fmin(s->m.eps / 2, worst / 10), 0.3 * run->settings->tol);
    return most > 0 ? place_rows(run, s, first) : MGV_OK;
}

/* f = K c */
static mgv_status multiply(mgvi_run *run, state *s)
{
    if (s->m.updates == MOST_UPDATES) {
        mgvi_kernel_combine(s->kernel, s->now.x, s->f);
        s->m.updates = 0;
    } else {
        const bool updated = mgvi_kernel_update(s->kernel, s->before, s->now.x, s->f);
        s->m.updates = updated ? s->m.updates + 1 : 0;
    }
    return run->problem->A->failed;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    if (s->on_cores)
        return mgvi_core_rounds_step(run, s);
    const bool doubtful = s->m.estimate <= run->settings->tol || s->m.flat > 0;
    if (doubtful && mgvi_kernel_fast(s->kernel) == MGV_F32) { /* (10) */
        mgvi_log(run->ctx, MGV_INFO, "float32 kernel values are not good enough: on in float64");
        MGVI_TRY(go_exact(run, s));
        MGVI_TRY(rebuild(run, s));
    }
    memcpy(s->before, s->now.x, (size_t)s->u.n * sizeof *s->before);
    MGVI_TRY(ascend(run, s));
    MGVI_TRY(multiply(run, s));
    mgvi_kernel_margin_appraise(run, s);
    run->suspicious = s->m.below_precision;
    run->finished = s->m.below_precision || (s->m.flat >= MGVI_KERNEL_FLAT_ROUNDS &&
                                             mgvi_kernel_fast(s->kernel) == MGV_F64);
    return run->finished ? MGV_OK : widen(run, s);
}

/* With a kernel there is nothing better here. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    (void)settings;
    return mgvi_kernel_cost(p);
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->on_cores ? mgvi_core_rounds_estimate(run, s) : s->m.estimate;
}

static void ended(mgvi_run *run)
{
    const state *s = run->state;
    if (s->m.below_precision)
        mgvi_log(
            run->ctx, MGV_WARNING,
            "the margin is below precision: multipliers grow beyond %g and rounding decides%s. "
            "A soft margin (--loss hinge or squared_hinge, --C) or a narrower kernel has an "
            "answer",
            s->limit,
            mgvi_kernel_spec(s->kernel)->kind == MGVI_KERNEL_RBF ||
                    mgvi_kernel_spec(s->kernel)->kind == MGVI_KERNEL_LAPLACE
                ? " (equal examples have equal labels, so in exact arithmetic there is one)"
                : "");
}

/* A checkpoint is a file: W must be a set of rows, and its block of K is made again. */
static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    const int64_t n = run->problem->A->rows;
    bool sound = s->m.size >= 0 && s->m.size <= n && s->m.eps > 0 && s->m.care >= 0 &&
                 s->m.care <= MGVI_CORES_EXACT && s->m.holding >= 0 && s->m.holding <= n;
    memset(s->in_W, 0, (size_t)n * sizeof *s->in_W);
    for (int64_t t = 0; sound && t < s->m.size; t++) {
        sound = s->W[t] >= 0 && s->W[t] < n && !s->in_W[s->W[t]];
        if (sound)
            s->in_W[s->W[t]] = true;
    }
    for (int64_t i = 0; sound && i < n; i++)
        sound = fabs(s->now.x[i]) <= s->bound[i] && (s->on_cores || s->now.x[i] == 0 || s->in_W[i]);
    for (int64_t t = 0; sound && s->on_cores && t < s->m.holding; t++)
        sound = s->cores.held[t] >= 0 && s->cores.held[t] < n;
    if (!sound)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's working set is damaged");
    if (s->on_cores) {
        mgvi_cores_survey(&s->cores);
        return MGV_OK;
    }
    if (s->m.exact)
        MGVI_TRY(go_exact(run, s));
    return rebuild(run, s);
}

const mgvi_solver_ops mgvi_solver_kernel_svm = {
    .name = "kernel_svm",
    .summary = "hard and soft margins with a kernel: working sets, pairwise ascent, lazy rows",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_MARGIN | MGVI_QUADRATIC_DUAL, .op = MGVI_KERNEL},
    .no = {.penalty = MGVI_ABS, .loss = MGVI_WIDTH},
    .shares_rows = true,
    .kernels = true,
    .cost = cost,
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .ended = ended,
    .restored = restored,
};
