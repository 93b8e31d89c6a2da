/* exact_margin.c - the hard margin to machine precision, in the norm p: cold working sets around an
 * inner solver; docs/algorithms/exact_margin.md.
 *
 *   W = k random rows
 *   repeat  b = the solution on W;  w = A_W'b, or its mirror image (9) when p is not 2          (2)
 *           z = A w on all rows; the k rows with the smallest z < 1 outside W join W            (3)
 *   until no row is violated
 *
 * Inside, p = 2: a dual active set whose factor is kept from round to round. Nothing ever leaves W.
 * Other p, and p = 2 when the active set is stuck on data that has a margin: an interior point
 * method, and while the gap is large rows that are far from being support vectors leave W. (4)
 *
 * A ray of the active set is only a hint that the data is not separable: the judge recomputes any
 * proof from the rows. When the hint is not borne out, or the inner solver is stuck, the linear
 * program of the margin in l-infinity decides about W (5). */
#include "solver/solver_impl.h"

#include "solver/parts/class_intercepts.h"
#include "solver/parts/interior.h"
#include "solver/parts/working_set.h"

#include <math.h>
#include <string.h>

enum {
    JOIN = 128,      /* rows that join W in a round */
    JOIN_MANY = 300, /* the same when there are more than MANY rows of the data */
    MANY = 100000,
    JOIN_INTERIOR = 64, /* the same for the interior point, which starts with three times that */
    ITERATIONS = 100,   /* of the interior point in a round */
    FEW = 8,            /* rows a column: with more of them, few decide */
    PIVOT_WIDTH = 8192  /* columns up to which the active set keeps its rows dense */
};
static const double FIRST_INNER_GAP = 0.05, LAST_INNER_GAP = 1e-15;
static const double EVICT_ABOVE = 0.02; /* the gap; below it nothing leaves W */
/* Multiplications of an iteration up to which the interior point takes all rows at once. */
static const double ALL_AT_ONCE = 2e9;

typedef struct memory {
    bool interior;        /* the interior point is at work, */
    bool all;             /* on all rows */
    bool hinted;          /* u was a ray, which the judge sees next */
    bool below_precision; /* a kernel's margin */
    int64_t decided;      /* rows of W when (5) was last asked */
    double estimate;
} memory;

typedef struct state {
    mgvi_rows *rows;
    mgvi_working_set work;
    mgvi_active_set set;
    mgvi_class_intercepts classes;
    mgvi_interior ip;
    mgvi_interior linear; /* decides whether its rows have a margin */
    int32_t *W; /* the interior point's rows, */
    int64_t size;
    double *b; /* and what they start with */
    bool *in_W;  /* per row */
    double *acc; /* w in the row kernels' form */
    mgvi_vec w, u, z;
    int32_t *order;  /* candidates of a round */
    int64_t nothing; /* 1 + the number of a row of zeros in W without an intercept; 0: none */
    mgvi_rng start;  /* the generator after init: a resumed run repeats its rounds from here */
    memory m;
} state;

/* ---- the working set ------------------------------------------------------------------------- */

static mgv_status room_for(mgvi_run *run, state *s, int64_t rows)
{
    const int64_t n = run->problem->A->rows;
    int64_t capacity = s->work.capacity;
    if (rows <= capacity)
        return MGV_OK;
    while (capacity < rows) /* the arena keeps what is outgrown, so by half only */
        capacity += capacity / 2 + 1;
    capacity = capacity < n ? capacity : n;
    MGVI_TRY(mgvi_working_set_reserve(&s->work, capacity));
    return mgvi_active_set_grow(&s->set, &run->arena, capacity);
}

static mgv_status extend_gram(mgvi_run *run, state *s, int64_t first)
{
    mgvi_active_set *a = &s->set;
    a->size = s->work.size;
    for (int64_t t = first; a->y && t < a->size; t++)
        a->y[t] = mgvi_problem_free_entry(run->problem, s->work.W[t]);
    mgvi_class_intercepts_joined(&s->classes, first);
    return mgvi_working_set_gram(&s->work, first, a->K, a->capacity);
}

/* Rows join W; the interior point's have no weight yet. */
static mgv_status join(mgvi_run *run, state *s, const int32_t *rows, int64_t count)
{
    const int64_t first = s->work.size;
    for (int64_t t = 0; t < count; t++) {
        const double square = mgvi_rows_square_norm(s->rows, rows[t]);
        s->in_W[rows[t]] = true;
        if (square == 0 && !run->problem->free_cols)
            s->nothing = rows[t] + 1;
        if (!isfinite(square))
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "row %" PRId32 " is too large: its square overflows", rows[t] + 1);
    }
    if (s->m.interior) {
        for (int64_t t = 0; t < count; t++) {
            run->touched += (double)mgvi_rows_nnz(s->rows, rows[t]);
            s->b[s->size] = 0;
            s->W[s->size++] = rows[t];
        }
        return mgvi_interior_take(&s->ip, s->W, s->size, s->b);
    }
    MGVI_TRY(room_for(run, s, first + count));
    const double before = s->work.touched;
    mgvi_working_set_join(&s->work, rows, count);
    run->touched += s->work.touched - before;
    return extend_gram(run, s, first);
}

/* Rows with little weight and much slack leave W; they come back when they are violated. */
static void evict(state *s)
{
    int64_t count = 0;
    double most = 0;
    for (int64_t t = 0; t < s->size; t++)
        most = fmax(most, s->b[t]);
    for (int64_t t = 0; t < s->size; t++) {
        const int32_t row = s->W[t];
        const bool leaves = s->b[t] < 0.03 * most && s->z.x[row] > 1.5;
        s->in_W[row] = !leaves;
        if (leaves)
            continue;
        s->b[count] = s->b[t];
        s->W[count++] = row;
    }
    s->size = count;
}

static int64_t rows_in_W(const state *s) { return s->m.interior ? s->size : s->work.size; }

/* ---- starting -------------------------------------------------------------------------------- */

static bool interior_fits(const mgv_problem *p)
{
    return !(p->A->ops->can & MGVI_KERNEL) && !p->graph;
}

/* The interior point begins, or takes over with the rows of W and the b at hand; false: not for
 * this problem. */
static mgv_status use_interior(mgvi_run *run, state *s, bool *possible)
{
    const mgv_problem *p = run->problem;
    const size_t n = (size_t)p->A->rows;
    *possible = interior_fits(p);
    if (!*possible)
        return MGV_OK;
    s->W = mgvi_run_array(run, n, sizeof *s->W);
    s->b = mgvi_run_array(run, n, sizeof *s->b);
    if (!s->W || !s->b)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_interior_init(&s->ip, p, p->p, s->rows, &run->arena));
    s->m.interior = true;
    s->size = s->work.size; /* 0: it begins */
    for (int64_t t = 0; t < s->size; t++) {
        s->W[t] = s->work.W[t];
        s->b[t] = s->set.b[t];
    }
    return s->size > 0 ? mgvi_interior_take(&s->ip, s->W, s->size, s->b) : MGV_OK;
}

static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    if (p->A->rows > INT32_MAX)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin takes at most 2^31 rows; there are %" PRId64,
                         p->A->rows);
    if ((p->A->ops->can & MGVI_KERNEL) && !mgvi_problem_has_contrasts(p))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin works with kernels for a joint margin only; "
                         "kernel_svm is for two classes");
    if ((p->p == 1 || isinf(p->p)) && p->col.scale.values)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin penalises every column alike: no --penalty-weight");
    if (p->p != 2 && p->graph)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin has intercepts for a joint margin in the norm 2 "
                         "only; --no-intercept for other norms");
    return MGV_OK;
}

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, some = n < 6 * JOIN ? n : 6 * JOIN;
    const int64_t start = p->p == 2 ? some : 0;
    bool possible = true;
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->z));
    MGVI_TRY(mgvi_working_set_init(&s->work, p, s->rows, &run->arena, start,
                                   p->p == 2 && p->A->cols <= PIVOT_WIDTH));
    s->in_W = mgvi_run_array(run, (size_t)n, sizeof *s->in_W);
    s->order = mgvi_run_array(run, (size_t)n, sizeof *s->order);
    s->acc = mgvi_run_array(run, (size_t)mgvi_rows_acc_len(s->rows), sizeof *s->acc);
    if (!s->in_W || !s->order || !s->acc)
        return MGV_E_MEMORY;
    if (p->p != 2)
        return use_interior(run, s, &possible);
    MGVI_TRY(mgvi_active_set_init(&s->set, &run->arena, start, p->A->cols,
                                  p->free_cols > 0 && !p->graph));
    return mgvi_class_intercepts_init(&s->classes, p, &run->arena, &s->set, &s->work);
}

/* Whether the interior point takes all usable rows at once: few, or sparse. */
static mgv_status all_at_once(mgvi_run *run, state *s, int64_t usable, bool *all)
{
    static const double HELD = 16; /* numbers a row, the driver's included */
    mgvi_block_plan plan;
    *all = false;
    if (!s->m.interior || usable > FEW * run->problem->A->cols)
        return MGV_OK;
    MGVI_TRY(mgvi_margin_block_plan(run->problem, s->rows, s->order, usable, &plan));
    *all = plan.work <= ALL_AT_ONCE && plan.bytes <= mgvi_problem_spare(run->problem, HELD);
    return MGV_OK;
}

/* The first rows: random ones, and with an intercept one of each class among them, which are P. */
static mgv_status first_rows(mgvi_run *run, state *s, int64_t usable)
{
    const mgv_problem *p = run->problem;
    const int64_t some = s->m.interior ? 3 * JOIN_INTERIOR : JOIN;
    int32_t *order = s->order;
    MGVI_TRY(all_at_once(run, s, usable, &s->m.all));
    const int64_t count = s->m.all || usable < some ? usable : some;
    if (s->m.all)
        return join(run, s, order, count);
    for (int64_t t = 0; t < count; t++) {
        const int64_t other = t + mgvi_rng_below(&run->rng, (uint32_t)(usable - t));
        const int32_t row = order[t];
        order[t] = order[other];
        order[other] = row;
    }
    for (int64_t t = 1; p->free_cols == 1 && t < usable; t++)
        if (mgvi_problem_free_entry(p, order[t]) != mgvi_problem_free_entry(p, order[0])) {
            const int32_t row = order[t];
            order[t] = order[1];
            order[1] = row;
            break;
        }
    double square = 0;
    for (int64_t t = 0; t < count; t++)
        square += mgvi_rows_square_norm(s->rows, order[t]) / (double)count;
    s->work.rho = square > 0 && isfinite(square) ? square : 1;
    MGVI_TRY(join(run, s, order, count));
    if (!s->m.interior && p->free_cols == 1 && count > 1 && mgvi_active_set_append(&s->set, 0))
        mgvi_active_set_append(&s->set, 1);
    return MGV_OK;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows;
    int64_t usable = 0;
    MGVI_TRY(allocate(run, s));
    for (int64_t i = 0; i < n; i++)
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            s->order[usable++] = (int32_t)i;
    s->m.estimate = NAN;
    MGVI_TRY(first_rows(run, s, usable));
    s->start = run->rng;
    return MGV_OK;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* (2) for p = 2: w = A_W'b, in the row kernels' form and as a vector. */
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
    const double *free = s->classes.k > 0 ? s->classes.a : &s->set.b0;
    const int64_t count = run->problem->free_cols; /* y'b = 0, so the accumulated is rounding */
    memcpy(s->w.x + s->w.n - count, free, (size_t)count * sizeof *free);
}

static void copy_weights(const mgvi_run *run, state *s, const mgvi_interior *ip)
{
    memcpy(s->w.x, ip->th, (size_t)ip->columns * sizeof *s->w.x);
    if (run->problem->free_cols)
        s->w.x[s->w.n - 1] = ip->free;
}

static void copy_interior(mgvi_run *run, state *s)
{
    mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t t = 0; t < s->size; t++) {
        s->b[t] = s->ip.u[t];
        s->u.x[s->W[t]] = -s->b[t];
    }
    copy_weights(run, s, &s->ip);
}

/* The relative gap from the margins at hand: (upper - lower)/upper with upper = |w|_p/sum b. */
static double guess_gap(const mgvi_run *run, const state *s)
{
    const mgv_problem *p = run->problem;
    const mgvi_vec w = mgvi_problem_penalised_part(p, &s->w);
    double sum_b;
    mgvi_vec_sum(run->ctx, &s->u, &sum_b);
    const double norm = p->p == 2 ? mgvi_op_length(p->A, &w) : mgvi_lp_norm(w.x, w.n, p->p);
    const double m = mgvi_problem_least_margin(p, s->z.x);
    return norm > 0 ? 1 + m / norm * sum_b / norm : NAN;
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

/* The interior point takes over where the active set has failed; undecided when it cannot. */
static mgv_status take_over(mgvi_run *run, state *s)
{
    bool possible;
    s->m.hinted = false;
    MGVI_TRY(use_interior(run, s, &possible));
    run->finished = !possible;
    return MGV_OK;
}

/* (5): the linear program decides whether W has a margin, in columns of one size. The proof that it
 * has none goes to the judge, and so does w if it has one. */
static mgv_status decide(mgvi_run *run, state *s, bool *ray)
{
    static const double SOME_MARGIN = 1 - 1e-9; /* the gap when there is one */
    const int32_t *W = s->m.interior ? s->W : s->work.W;
    const int64_t size = rows_in_W(s);
    mgvi_interior *ip = &s->linear;
    bool solved;
    *ray = false;
    s->m.decided = size;
    if (!interior_fits(run->problem))
        return MGV_OK;
    mgvi_log(run->ctx, MGV_INFO, "a linear program decides whether %" PRId64 " rows have a margin",
             size);
    if (!ip->room)
        MGVI_TRY(mgvi_interior_init(ip, run->problem, INFINITY, s->rows, &run->arena));
    ip->scaled = true;
    MGVI_TRY(mgvi_interior_take(ip, W, size, NULL));
    MGVI_TRY(mgvi_interior_solve(ip, SOME_MARGIN, ITERATIONS, &solved));
    run->work += ip->work;
    ip->work = 0;
    *ray = ip->ray;
    if (ip->separates)
        copy_weights(run, s, ip);
    if (*ray)
        mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t t = 0; *ray && t < size; t++)
        s->u.x[W[t]] = -ip->u[t];
    return MGV_OK;
}

/* Multiplications before (5) is asked: some tenths of a second, or twenty passes. */
static double patience(const mgv_problem *p)
{
    const double n = (double)p->A->rows, d = (double)p->A->cols;
    return fmax(0.1 * fmin(n, 40 * d) * d * d, 4e8) + 20 * n * d;
}

/* A ray's A'q is zero to the accuracy of one solve. Four corrections of q_P from A'q recomputed
 * from the rows bring it to rounding. Becomes the active set's b. */
static void polish_ray(state *s)
{
    mgvi_active_set *a = &s->set;
    const int64_t n = a->factor.count, length = mgvi_rows_acc_len(s->rows);
    memcpy(a->b, a->ray, (size_t)s->work.size * sizeof *a->b);
    for (int round = 0; round < 4; round++) {
        memset(s->acc, 0, (size_t)length * sizeof *s->acc);
        for (int64_t t = 0; t < s->work.size; t++)
            if (a->b[t] > 0)
                mgvi_rows_axpy(s->rows, s->work.W[t], a->b[t], s->acc);
        mgvi_rows_scale_intercepts(s->rows, s->work.rho, s->acc);
        for (int64_t r = 0; r < n; r++)
            a->c[r] = mgvi_rows_dot(s->rows, s->work.W[a->P[r]], s->acc);
        mgvi_factor_forward(&a->factor, a->c);
        mgvi_factor_backward(&a->factor, a->c);
        for (int64_t r = 0; r < n; r++)
            a->b[a->P[r]] = fmax(a->b[a->P[r]] - a->c[r], 0);
    }
}

/* With a kernel lengths come from q'K q, no better than the root of rounding: a ray proves nothing,
 * and there is no other method to ask. What there is of a margin is below precision. */
static mgv_status give_up(mgvi_run *run, state *s)
{
    s->m.below_precision = run->suspicious = run->finished = true;
    s->m.estimate = 0;
    return MGV_OK;
}

/* False: the active set ended otherwise, and what follows from that is done. */
static mgv_status solve_by_pivots(mgvi_run *run, state *s, bool *solved)
{
    const bool sure = s->m.decided == s->work.size;
    const double most = sure ? INFINITY : patience(run->problem);
    mgvi_active_end end;
    MGVI_TRY(mgvi_class_intercepts_solve(&s->classes, 5 * s->work.size + 200, most, &end));
    const bool kernel = run->problem->A->ops->can & MGVI_KERNEL;
    *solved = end == MGVI_ACTIVE_OPTIMAL;
    if (end == MGVI_ACTIVE_RAY && !kernel)
        polish_ray(s);
    combine(run, s);
    if (*solved)
        return MGV_OK;
    mgvi_log(run->ctx, MGV_INFO, "the active set ended after %" PRId64 " solves", s->set.solves);
    if (kernel)
        return give_up(run, s);
    s->m.estimate = 0; /* let the judge look at once */
    run->suspicious = s->m.hinted = end == MGVI_ACTIVE_RAY;
    if (s->m.hinted)
        return MGV_OK;
    if (sure)
        return take_over(run, s);
    MGVI_TRY(decide(run, s, &s->m.hinted));
    run->suspicious = s->m.hinted;
    return MGV_OK;
}

/* As many rows join the interior point's as keep the number of its rounds small; more when it looks
 * as if there were no margin, which more rows show better. */
static int64_t join_interior(const state *s)
{
    const int64_t some = s->m.decided > 0 ? rows_in_W(s) : rows_in_W(s) / 2;
    return some > JOIN_INTERIOR ? some : JOIN_INTERIOR;
}

/* The corners of linear programs are many, and rows would come and go for ever. */
static bool may_evict(const state *s)
{
    return !mgvi_interior_linear(&s->ip) && s->m.decided == 0;
}

/* Rows that w violates join W; none: nothing is left to try, but for the interior point in the place
 * of the active set. */
static mgv_status grow(mgvi_run *run, state *s)
{
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    const int64_t count = violators(s, run->problem, join_interior(s), s->order);
    if (count > 0)
        return join(run, s, s->order, count);
    if (!s->m.interior)
        return take_over(run, s);
    run->finished = true; /* undecided, with the interval so far */
    return MGV_OK;
}

static mgv_status solve_by_interior(mgvi_run *run, state *s, bool *solved)
{
    enum { LOOK = 20 }; /* iterations after which a margin should have shown itself */
    const double guess = isnan(s->m.estimate) ? 1 : s->m.estimate;
    const bool last = s->m.all || !s->ip.changed; /* W suffices */
    const double goal = last ? 0.5 * run->settings->tol : fmin(FIRST_INNER_GAP, 0.1 * guess);
    const double tol = fmax(goal, LAST_INNER_GAP);
    const bool waits = mgvi_interior_linear(&s->ip) || s->ip.separates;
    const int more = s->size < run->problem->A->rows ? 2 * LOOK : ITERATIONS;
    MGVI_TRY(mgvi_interior_solve(&s->ip, tol, waits ? ITERATIONS : LOOK, solved));
    copy_interior(run, s);
    bool ray = s->ip.ray;
    if (!*solved && !s->ip.separates && !ray && s->m.decided != s->size)
        MGVI_TRY(decide(run, s, &ray));
    if (!*solved && !waits && !ray) {
        MGVI_TRY(mgvi_interior_solve(&s->ip, tol, more, solved));
        copy_interior(run, s);
    }
    run->work += s->ip.work;
    s->ip.work = 0;
    mgvi_log(run->ctx, MGV_INFO,
             "%" PRId64 " rows: the interior point ended at a gap of %.1e after %" PRId64
             " iterations",
             s->size, s->ip.gap, s->ip.iterations);
    if (*solved)
        return MGV_OK;
    s->m.estimate = 0;
    run->suspicious = s->m.hinted = ray;
    if (ray)
        return MGV_OK;
    if (s->m.decided == s->size && s->linear.separates && !s->ip.separates)
        copy_weights(run, s, &s->linear);
    return grow(run, s);
}

/* The judge did not believe a ray. (5) has a look where it has not. Else rows that nearly have a
 * margin are hard to prove, and more of them are less so; with no more of them the interior point
 * takes over, or the question is left undecided. */
static mgv_status ray_was_none(mgvi_run *run, state *s)
{
    s->m.hinted = false;
    s->m.estimate = 0; /* let the judge look at once */
    if (s->m.decided != rows_in_W(s)) {
        MGVI_TRY(decide(run, s, &s->m.hinted));
        run->suspicious = s->m.hinted;
        if (s->m.hinted || !s->linear.separates)
            return MGV_OK;
        return s->m.interior ? MGV_OK : take_over(run, s);
    }
    return grow(run, s);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    bool solved;
    run->suspicious = false;
    if (s->nothing > 0) { /* a row of zeros has no margin: it is the proof */
        mgvi_vec_fill(run->ctx, &s->u, 0);
        s->u.x[s->nothing - 1] = -1;
        s->m.estimate = 0;
        run->suspicious = run->finished = true;
        return MGV_OK;
    }
    if (s->m.hinted) /* the ray was no proof */
        return ray_was_none(run, s);
    MGVI_TRY(s->m.interior ? solve_by_interior(run, s, &solved) : solve_by_pivots(run, s, &solved));
    if (!solved)
        return MGV_OK;
    const double before = s->m.estimate;
    const bool all = s->m.interior && s->m.all;
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->z);
    s->m.estimate = guess_gap(run, s);
    const int64_t size = s->size;
    if (s->m.interior && s->m.estimate > EVICT_ABOVE && !all && may_evict(s))
        evict(s);
    const bool many = p->A->rows > MANY && !mgvi_problem_has_contrasts(p);
    const int64_t most = s->m.interior ? join_interior(s) : many ? JOIN_MANY : JOIN;
    const int64_t count = all ? 0 : violators(s, p, most, s->order);
    if (count > 0 || s->size < size)
        return join(run, s, s->order, count);
    /* the interior point may do better on the same W, until rounding ends that */
    run->finished = !s->m.interior || s->m.estimate >= before;
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run) { return ((const state *)run->state)->m.estimate; }

static void ended(mgvi_run *run)
{
    const state *s = run->state;
    if (s->m.below_precision)
        mgvi_log(run->ctx, MGV_WARNING,
                 "the margin is below precision: rounding decides whether there is one; the upper "
                 "bound stands. A soft margin or a narrower kernel has an answer");
}

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
    .summary = "hard margin to machine precision: working sets, active set or interior point",
    .needs = {.loss = MGVI_HARD | MGVI_MARGIN, .op = MGVI_ROW},
    .penalties = "l2 lp l1 linf",
    .kernels = true,
    .contrasts = true,
    .fits = fits,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .ended = ended,
    .restored = restored,
};
