/* exact_rows.c - rows that join W, leave it and begin it. */
#include "solver/margin/exact_rows.h"

#include <math.h>

enum { FEW = 8 }; /* rows a column: with more of them, few decide */
/* Multiplications of an iteration up to which the interior point takes all rows at once: linear
 * programmes, which start anew in every round, and sparse rows; and dense rows of other norms, whose
 * rounds go on from each other. */
static const double ALL_AT_ONCE = 2e9, DENSE_AT_ONCE = 1e7;

typedef mgvi_exact_margin state;

/* A row's stored entries, read by their index, and in matrix products of the row made dense. */
static double scattered_pair(const mgv_problem *p)
{
    static const double SCATTERED = 16;
    return SCATTERED * (double)p->A->nnz / (double)p->A->rows;
}

static bool keeps_dense(const mgv_problem *p)
{
    return p->p == 2 && p->A->cols <= MGVI_EXACT_PIVOT_WIDTH &&
           scattered_pair(p) >= (double)p->A->cols;
}

double mgvi_exact_pair_cost(const mgv_problem *p)
{
    return keeps_dense(p) ? (double)p->A->cols : scattered_pair(p);
}

/* ---- intercepts of classes ------------------------------------------------------------------- */

/* A proximal point method in the intercepts around the active set. */

enum { ROUNDS = 100 };
/* Of a, at least 1: changes that are as good as none, and those small enough to be rounding when
 * they do not shrink any more. */
static const double SETTLED = 1e-12, SMALL = 1e-7;

static mgv_status intercepts_init(mgvi_class_intercepts *c, const mgv_problem *p, mgvi_arena *arena,
                                  mgvi_active_set *set, const mgvi_working_set *work)
{
    *c = (mgvi_class_intercepts){.set = set, .work = work, .k = p->graph ? p->outputs : 0};
    if (c->k == 0)
        return MGV_OK;
    MGVI_TRY(MGVI_VECTORS(arena, c->k, &c->a, &c->flow));
    return MGV_OK;
}

static int32_t own_of(const mgvi_class_intercepts *c, int64_t t)
{
    return c->work->rows->own[c->work->W[t] / c->k];
}

static int32_t rival_of(const mgvi_class_intercepts *c, int64_t t) { return c->work->W[t] % c->k; }

/* Rows from `first` on have joined W: their demands. */
static void intercepts_joined(mgvi_class_intercepts *c, int64_t first)
{
    for (int64_t t = first; c->k > 0 && t < c->work->size; t++)
        c->set->demand[t] = 1 - (c->a[own_of(c, t)] - c->a[rival_of(c, t)]);
}

/* (12), and the demands that follow. True: the intercepts have settled. */
static bool push(mgvi_class_intercepts *c, double *last)
{
    double moved = 0, size = 1;
    for (int32_t j = 0; j < c->k; j++)
        c->flow[j] = 0;
    for (int64_t t = 0; t < c->work->size; t++) {
        c->flow[own_of(c, t)] += c->set->b[t];
        c->flow[rival_of(c, t)] -= c->set->b[t];
    }
    for (int32_t j = 0; j < c->k; j++) {
        const double step = c->work->rho * c->flow[j];
        c->a[j] += step;
        moved = fmax(moved, fabs(step));
        size = fmax(size, fabs(c->a[j]));
    }
    const bool shrinks = moved < 0.9 * *last;
    *last = moved;
    if (moved <= SETTLED * size || (moved <= SMALL * size && !shrinks))
        return true;
    intercepts_joined(c, 0);
    mgvi_active_set_demand(c->set);
    return false;
}

mgv_status mgvi_class_intercepts_solve(mgvi_class_intercepts *c, int64_t most_solves,
                                       double most_work, mgvi_active_end *end)
{
    double last = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        MGVI_TRY(mgvi_active_set_solve(c->set, most_solves, most_work, end));
        if (c->k == 0 || *end != MGVI_ACTIVE_OPTIMAL || push(c, &last))
            return MGV_OK;
    }
    return MGV_OK;
}

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
    intercepts_joined(&s->classes, first);
    run->work += mgvi_exact_pair_cost(run->problem) * (double)(a->size - first) * (double)a->size;
    return mgvi_working_set_gram(&s->work, first, a->K, a->capacity);
}

static int64_t list_usable(const mgv_problem *p, int32_t *order)
{
    int64_t usable = 0;
    for (int64_t i = 0; i < p->A->rows; i++)
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            order[usable++] = (int32_t)i;
    return usable;
}

/* All that may join the interior point's W, of s->order. */
static void join_rest(state *s, int64_t usable)
{
    for (int64_t t = 0; t < usable; t++)
        if (!s->in_W[s->order[t]]) {
            s->in_W[s->order[t]] = true;
            s->b[s->size] = 0;
            s->W[s->size++] = s->order[t];
        }
}

/* Linear programmes (13) start anew in every round: rounds take three times the iterations that all
 * rows at once take, and more; other norms more as well. Where an iteration with W comes to half the
 * work of one with all rows, they join it. */
static mgv_status join_rest_if_cheaper(mgvi_run *run, state *s)
{
    static const double MUCH = 0.5;
    mgvi_block_plan some, whole;
    if (s->m.all)
        return MGV_OK;
    const int64_t usable = list_usable(run->problem, s->order);
    MGVI_TRY(mgvi_margin_block_plan(run->problem, s->rows, s->W, s->size, &some));
    MGVI_TRY(mgvi_margin_block_plan(run->problem, s->rows, s->order, usable, &whole));
    if ((s->m.all = some.work > MUCH * whole.work))
        join_rest(s, usable);
    return MGV_OK;
}

mgv_status mgvi_exact_join(mgvi_run *run, state *s, const int32_t *rows, int64_t count)
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
        MGVI_TRY(join_rest_if_cheaper(run, s));
        return mgvi_interior_take(&s->ip, s->W, s->size, s->b);
    }
    MGVI_TRY(room_for(run, s, first + count));
    const double before = s->work.touched;
    mgvi_working_set_join(&s->work, rows, count);
    run->touched += s->work.touched - before;
    return extend_gram(run, s, first);
}

void mgvi_exact_evict(state *s)
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

/* ---- starting -------------------------------------------------------------------------------- */

bool mgvi_exact_interior_fits(const mgv_problem *p)
{
    return !(p->A->ops->can & MGVI_KERNEL) && !p->graph;
}

/* Whether the interior point takes all usable rows at once: few, or sparse. */
static mgv_status all_at_once(mgvi_run *run, state *s, int64_t usable, bool *all)
{
    static const double HELD = 16; /* numbers a row, the driver's included */
    mgvi_block_plan plan;
    *all = false;
    if (usable > FEW * run->problem->A->cols)
        return MGV_OK;
    MGVI_TRY(mgvi_margin_block_plan(run->problem, s->rows, s->order, usable, &plan));
    const bool once = plan.sparse || mgvi_interior_linear(&s->ip);
    *all = plan.work <= (once ? ALL_AT_ONCE : DENSE_AT_ONCE) &&
           plan.bytes <= mgvi_problem_spare(run->problem, HELD);
    return MGV_OK;
}

mgv_status mgvi_exact_use_interior(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const size_t n = (size_t)p->A->rows;
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->W, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->b, n));
    MGVI_TRY(mgvi_interior_init(&s->ip, p, p->p, s->rows, &run->arena));
    s->m.interior = true;
    s->size = s->work.size; /* 0: it begins */
    for (int64_t t = 0; t < s->size; t++) {
        s->W[t] = s->work.W[t];
        s->b[t] = s->set.b[t];
    }
    if (s->size == 0)
        return MGV_OK;
    const int64_t usable = list_usable(p, s->order);
    MGVI_TRY(all_at_once(run, s, usable, &s->m.all));
    if (s->m.all)
        join_rest(s, usable);
    return mgvi_interior_take(&s->ip, s->W, s->size, s->b);
}

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, some = n < 6 * MGVI_EXACT_JOIN ? n : 6 * MGVI_EXACT_JOIN;
    const int64_t start = p->p == 2 ? some : 0;
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->u, &s->z));
    MGVI_TRY(mgvi_working_set_init(&s->work, p, s->rows, &run->arena, start, keeps_dense(p)));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->in_W, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->order, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->acc, (size_t)mgvi_rows_acc_len(s->rows)));
    if (p->p != 2)
        return mgvi_exact_use_interior(run, s);
    MGVI_TRY(mgvi_active_set_init(&s->set, &run->arena, start, p->A->cols,
                                  p->free_cols > 0 && !p->graph));
    return intercepts_init(&s->classes, p, &run->arena, &s->set, &s->work);
}

/* The first rows: random ones, and with an intercept one of each class among them, which are P. */
static mgv_status first_rows(mgvi_run *run, state *s, int64_t usable)
{
    const mgv_problem *p = run->problem;
    const int64_t some = s->m.interior ? 3 * MGVI_EXACT_JOIN_INTERIOR : MGVI_EXACT_JOIN;
    int32_t *order = s->order;
    if (s->m.interior)
        MGVI_TRY(all_at_once(run, s, usable, &s->m.all));
    const int64_t count = s->m.all || usable < some ? usable : some;
    if (s->m.all)
        return mgvi_exact_join(run, s, order, count);
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
    MGVI_TRY(mgvi_exact_join(run, s, order, count));
    if (!s->m.interior && p->free_cols == 1 && count > 1 && mgvi_active_set_append(&s->set, 0))
        mgvi_active_set_append(&s->set, 1);
    return MGV_OK;
}

mgv_status mgvi_exact_begin(mgvi_run *run, state *s)
{
    MGVI_TRY(allocate(run, s));
    s->m.estimate = NAN;
    MGVI_TRY(first_rows(run, s, list_usable(run->problem, s->order)));
    s->start = run->rng;
    return MGV_OK;
}

/* By a heap with the largest of them on top; ties by row. */
int64_t mgvi_exact_violators(state *s, const mgv_problem *p, int64_t most)
{
    int32_t *heap = s->order;
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
