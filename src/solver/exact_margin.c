/* exact_margin.c - the hard margin to machine precision: cold working sets that never evict around
 * a dual active set whose factor is kept from round to round; docs/algorithms/exact_margin.md.
 *
 *   W = k random rows
 *   repeat  b = argmin of (1) of parts/active_set.h on W;  w = A_W'b                          (2)
 *           z = A w on all rows; the k rows with the smallest z < 1 outside W join W          (3)
 *   until no row is violated
 *
 * A ray of the active set is only a hint that the data is not separable: the judge recomputes any
 * proof from the rows. When the hint is not borne out, or the active set is stuck, the solver goes
 * on with dual coordinate passes from the b at hand, which always make progress.                (4)
 */
#include "solver/parts/dual_epoch.h"
#include "solver/solver_impl.h"

#include "solver/parts/active_set.h"
#include "solver/parts/separate.h"
#include "solver/parts/working_set.h"

#include <math.h>
#include <string.h>

enum {
    JOIN = 128,      /* rows that join W in a round */
    JOIN_MANY = 300, /* the same when there are more than MANY rows */
    MANY = 100000,
    FALLBACK = 1000 /* coordinate passes before the question is left undecided */
};

typedef struct memory {
    bool lost;      /* the active set gave up, (4) */
    bool asked;     /* and the prover has been asked */
    bool ray;       /* the active set ended with a ray */
    int64_t passes; /* coordinate passes since */
    double estimate;
} memory;

typedef struct state {
    mgvi_rows *rows;
    mgvi_storage storage;
    mgvi_active_set set;
    mgvi_working_set work;
    bool *in_W;  /* per row */
    double *acc; /* w in the row kernels' form */
    mgvi_vec w, u, z;
    int32_t *order; /* candidates of a round; coordinate passes */
    double *curvature;
    mgvi_rng start; /* the generator after init: a resumed run repeats its rounds from here */
    memory m;
} state;

/* ---- the working set ------------------------------------------------------------------------- */

static mgv_status room_for(mgvi_run *run, state *s, int64_t rows)
{
    const int64_t n = run->problem->A->rows;
    int64_t capacity = s->set.capacity;
    if (rows <= capacity)
        return MGV_OK;
    while (capacity < rows) /* the arena keeps what is outgrown, so by half only */
        capacity += capacity / 2 + 1;
    capacity = capacity < n ? capacity : n;
    MGVI_TRY(mgvi_active_set_grow(&s->set, &run->arena, capacity));
    return mgvi_working_set_reserve(&s->work, capacity);
}

static mgv_status join(mgvi_run *run, state *s, const int32_t *rows, int64_t count)
{
    mgvi_active_set *a = &s->set;
    const int64_t first = s->work.size;
    MGVI_TRY(room_for(run, s, first + count));
    for (int64_t t = 0; t < count; t++) {
        s->in_W[rows[t]] = true;
        if (a->y)
            a->y[first + t] = mgvi_problem_free_entry(run->problem, rows[t]);
    }
    const double before = s->work.touched;
    mgvi_working_set_join(&s->work, rows, count);
    run->touched += s->work.touched - before;
    a->size = s->work.size;
    return mgvi_working_set_gram(&s->work, first, a->K, a->capacity);
}

/* ---- starting -------------------------------------------------------------------------------- */

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, start = n < 4 * JOIN ? n : 4 * JOIN;
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    const size_t acc_len = (size_t)mgvi_rows_acc_len(s->rows);
    s->storage = mgvi_dual_storage(s->rows);
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->z));
    MGVI_TRY(mgvi_active_set_init(&s->set, &run->arena, start, p->A->cols, p->free_cols > 0));
    MGVI_TRY(mgvi_working_set_init(&s->work, p, s->rows, &run->arena, start));
    s->in_W = mgvi_run_array(run, (size_t)n, sizeof *s->in_W);
    s->order = mgvi_run_array(run, (size_t)n, sizeof *s->order);
    s->curvature = mgvi_run_array(run, (size_t)n, sizeof *s->curvature);
    s->acc = mgvi_run_array(run, acc_len, sizeof *s->acc);
    return s->in_W && s->order && s->curvature && s->acc ? MGV_OK : MGV_E_MEMORY;
}

/* The first rows: random ones, and with an intercept one of each class among them, which are P. */
static mgv_status first_rows(mgvi_run *run, state *s, int64_t usable)
{
    const mgv_problem *p = run->problem;
    int64_t count = usable < JOIN ? usable : JOIN;
    mgvi_rng_shuffle(&run->rng, s->order, usable);
    if (p->free_cols)
        for (int64_t t = 1; t < usable; t++)
            if (mgvi_problem_free_entry(p, s->order[t]) !=
                mgvi_problem_free_entry(p, s->order[0])) {
                const int32_t other = s->order[t];
                s->order[t] = s->order[1];
                s->order[1] = other;
                break;
            }
    MGVI_TRY(join(run, s, s->order, count));
    if (p->free_cols && count > 1 && mgvi_active_set_append(&s->set, 0))
        mgvi_active_set_append(&s->set, 1);
    return MGV_OK;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows;
    int64_t usable = 0;
    double sum = 0;
    if (n > INT32_MAX)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin takes at most 2^31 rows; there are %" PRId64, n);
    MGVI_TRY(allocate(run, s));
    mgvi_rows_square_norms(s->rows, s->curvature);
    for (int64_t i = 0; i < n; i++) {
        if (mgvi_coef_pick(&p->row.scale, i, 0) == 0)
            continue;
        sum += s->curvature[i];
        s->order[usable++] = (int32_t)i;
    }
    if (!isfinite(sum))
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the rows are too large: their squares overflow");
    s->work.rho = sum > 0 ? sum / (double)usable : 1;
    s->m.estimate = NAN;
    MGVI_TRY(first_rows(run, s, usable));
    s->start = run->rng;
    return MGV_OK;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* (2): w = A_W'b, in the row kernels' form and as a vector. */
static void combine(mgvi_run *run, state *s)
{
    memset(s->acc, 0, (size_t)mgvi_rows_acc_len(s->rows) * sizeof *s->acc);
    mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t t = 0; t < s->work.size; t++) {
        if (!(s->set.b[t] > 0))
            continue;
        mgvi_rows_axpy(s->rows, s->work.W[t], s->set.b[t], s->acc);
        run->touched += (double)mgvi_rows_nnz(s->rows, s->work.W[t]);
        s->u.x[s->work.W[t]] = -s->set.b[t];
    }
    mgvi_rows_weights(s->rows, s->acc, s->w.x);
    if (run->problem->free_cols) /* y'b = 0, so the accumulated intercept is rounding */
        s->w.x[s->w.n - 1] = s->acc[mgvi_rows_acc_len(s->rows) - 1] = s->set.b0;
}

/* The relative gap from the margins at hand: (upper - lower)/upper with upper = |w|/sum b. */
static double guess_gap(const mgvi_run *run, const state *s, double sum_b)
{
    const mgv_problem *p = run->problem;
    double square = 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        square += s->w.x[j] * s->w.x[j];
    const double m = mgvi_problem_least_margin(p, s->z.x);
    return square > 0 ? 1 - m * sum_b / square : NAN;
}

/* The `most` smallest z < 1 outside W, by a heap with the largest of them on top; ties by row. */
static int64_t violators(const state *s, const mgv_problem *p, int64_t most, int32_t *heap)
{
    const double *z = s->z.x;
    int64_t count = 0;
    for (int64_t i = 0; i < s->z.n; i++) {
        if (s->in_W[i] || !(z[i] < 1 - 1e-12) || mgvi_coef_pick(&p->row.scale, i, 0) == 0)
            continue;
        if (count == most && z[i] >= z[heap[0]])
            continue;
        int64_t at;
        if (count < most) { /* sift up from a new leaf */
            for (at = count++; at > 0 && z[heap[(at - 1) / 2]] < z[i]; at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
        } else { /* sift down from the top, which leaves */
            for (at = 0; 2 * at + 1 < count;) {
                int64_t child = 2 * at + 1;
                if (child + 1 < count && z[heap[child + 1]] > z[heap[child]])
                    child++;
                if (z[heap[child]] <= z[i])
                    break;
                heap[at] = heap[child];
                at = child;
            }
        }
        heap[at] = (int32_t)i;
    }
    return count;
}

/* (4) */
static void coordinate_pass(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    int64_t count = 0;
    mgvi_dual_epoch e = {.problem = p,
                         .rows = s->rows,
                         .storage = s->storage,
                         .curvature = s->curvature,
                         .inverse_lambda = 1,
                         .free_weight = p->free_cols ? s->work.rho : 0,
                         .watch = true,
                         .u = s->u.x,
                         .acc = s->acc};
    for (int64_t i = 0; i < p->A->rows; i++) {
        if (s->m.passes == 0 && p->free_cols) /* from here on with the intercept's share */
            s->curvature[i] += s->work.rho;
        e.free_sum += p->free_cols ? mgvi_problem_free_entry(p, i) * s->u.x[i] : 0;
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0 && s->curvature[i] > 0)
            s->order[count++] = (int32_t)i;
    }
    mgvi_rng_shuffle(&run->rng, s->order, count);
    mgvi_dual_epoch_run(&e, s->order, count, s->order);
    run->touched += e.touched;
    if (p->free_cols)
        s->acc[mgvi_rows_acc_len(s->rows) - 1] -= s->work.rho * e.free_sum;
    mgvi_rows_weights(s->rows, s->acc, s->w.x);
    s->m.estimate = e.product != 0 ? 1 - e.least * e.sum_u / e.product : NAN;
}

/* What comes after the active set: Newton on the squared hinge decides whether there is a margin at
 * all (parts/separate.h). A proof goes to the judge; without one the coordinate passes follow. */
static mgv_status ask_the_prover(mgvi_run *run, state *s)
{
    enum { MOST_COLUMNS = 4096, MOST_STEPS = 150 };
    mgvi_separate *prover;
    mgvi_separable answer;
    const mgvi_vec *w, *q;
    const mgv_status st = mgvi_separate_new(run->problem, &run->arena, MOST_COLUMNS, &prover);
    if (st == MGV_E_UNSUPPORTED)
        return MGV_OK;
    MGVI_TRY(st);
    MGVI_TRY(mgvi_separate_run(prover, MOST_STEPS, &answer, &w, &q));
    s->m.lost = answer != MGVI_SEPARABLE_YES || s->m.ray; /* separable: the active set may go on */
    run->suspicious = answer == MGVI_SEPARABLE_NO;
    if (answer == MGVI_SEPARABLE_NO) {
        mgvi_vec_copy(run->ctx, q, &s->u);
        mgvi_vec_scale(run->ctx, -1, &s->u);
    }
    return MGV_OK;
}

/* The active set gave up; its b is where coordinate passes go on. */
static void give_up(mgvi_run *run, state *s)
{
    s->m.lost = true;
    mgvi_log(run->ctx, MGV_INFO,
             "the active set ended after %" PRId64 " solves; Newton on the squared hinge decides",
             s->set.solves);
}

/* Multiplications before the prover is asked: what a few of its steps would cost, and no less than
 * a tenth of a second or twenty passes. */
static double patience(const mgv_problem *p)
{
    const double n = (double)p->A->rows, d = (double)p->A->cols;
    return fmax(0.1 * fmin(n, 40 * d) * d * d, 4e8) + 20 * n * d;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const int64_t n = run->problem->A->rows;
    if (s->m.lost && !s->m.asked) { /* the ray was no proof */
        s->m.asked = true;
        return ask_the_prover(run, s);
    }
    if (s->m.lost) {
        if (run->suspicious) /* u was a proof that failed: start from the active set's b again */
            combine(run, s);
        run->suspicious = false;
        coordinate_pass(run, s);
        run->finished = ++s->m.passes >= FALLBACK; /* undecided, with the interval so far */
        return MGV_OK;
    }
    const mgvi_active_end end = mgvi_active_set_solve(
        &s->set, 5 * s->work.size + 200, s->m.asked ? INFINITY : patience(run->problem));
    if (end != MGVI_ACTIVE_OPTIMAL) {
        const bool again = s->m.asked;
        if (end == MGVI_ACTIVE_RAY)
            memcpy(s->set.b, s->set.ray, (size_t)s->work.size * sizeof *s->set.b);
        combine(run, s);
        give_up(run, s);
        s->m.ray = end == MGVI_ACTIVE_RAY;
        s->m.asked = s->m.asked || !s->m.ray;
        run->suspicious = s->m.ray;
        s->m.estimate = 0; /* let the judge look at once */
        return s->m.ray || again ? MGV_OK : ask_the_prover(run, s);
    }
    combine(run, s);
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    double sum_b = 0;
    for (int64_t t = 0; t < s->work.size; t++)
        sum_b += s->set.b[t];
    s->m.estimate = guess_gap(run, s, sum_b);
    const int64_t count = violators(s, run->problem, n > MANY ? JOIN_MANY : JOIN, s->order);
    if (count == 0) {
        run->finished = true;
        return MGV_OK;
    }
    return join(run, s, s->order, count);
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run) { return ((const state *)run->state)->m.estimate; }

/* Rounds are few and depend on the seed alone, so that a checkpoint holds their number: working
 * set, Gram matrix and factor are made again by repeating them. */
static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    const double touched = run->touched;
    run->rng = s->start;
    for (int64_t k = 0; k < run->iteration && !run->finished; k++)
        MGVI_TRY(step(run));
    run->touched = touched;
    return MGV_OK;
}

const mgvi_solver_ops mgvi_solver_exact_margin = {
    .name = "exact_margin",
    .summary = "hard margin to machine precision: working sets and a dual active set",
    .needs = {.penalty = MGVI_STRONG, .loss = MGVI_HARD | MGVI_MARGIN, .op = MGVI_ROW},
    .penalties = "l2",
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
