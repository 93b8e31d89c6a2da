/* decide.c - a simplex method in twofold numbers. */
#include "solver/decide.h"

#include "base/limit.h"
#include "base/twofold.h"
#include "op/raw_rows.h"

#include <string.h>

/* Of numbers that are about 1: what 106 bits leave after some hundred pivots. */
static const double NOTHING = 1e-24;

/* The tableau has a row for every free column j,  sum_i a_ij q_i + s_j - t_j = 0,  and one for
 * sum q = 1; columns for the q, the s (a t_j is the opposite of s_j) and the right-hand side. The
 * last row has the reduced costs: of q_i its cost f_i, of s_j and t_j 1. */
typedef struct state {
    const mgv_problem *p;
    mgvi_arena arena;
    mgvi_rows *rows;
    int64_t n, c; /* rows with weight, columns that are not 0 */
    int64_t *row;
    int64_t *col;
    double *a;        /* n x c, scaled */
    double *unit;     /* per column: the power of two in `a` */
    double *w;        /* per column, scaled: fixed ones, and candidates for the others */
    bool *fixed;      /* per column */
    int64_t *free;    /* columns that are not */
    int64_t free_n;   /* how many */
    mgvi_two *f;      /* per row: what the fixed columns contribute */
    mgvi_two *T;      /* the tableau, (free_n + 2) x width */
    int64_t width;    /* n + free_n + 1 */
    int64_t *basis;   /* free_n + 1: i, n + j for s_j, n + free_n + j for t_j */
    mgvi_two *weight; /* q, by position in `row` */
    double left;      /* operations */
} state;

static mgvi_two quotient(mgvi_two a, mgvi_two b)
{
    const double q = a.hi / b.hi;
    a = mgvi_two_sub(a, mgvi_two_mul_real(b, q));
    const double r = a.hi / b.hi;
    a = mgvi_two_sub(a, mgvi_two_mul_real(b, r));
    return mgvi_two_add_real(mgvi_two_sum(q, r), a.hi / b.hi);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The power of two next to 1/x. */
static double unit_for(double x)
{
    int e;
    frexp(x, &e);
    return ldexp(1, 1 - e);
}

static mgv_status choose_rows(state *s)
{
    const mgv_problem *p = s->p;
    const int64_t cols = p->A->cols;
    double *largest;
    MGVI_TRY(MGVI_ARRAY(&s->arena, largest, cols));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->row, p->A->rows));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->col, cols));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->unit, cols));
    for (int64_t i = 0; i < p->A->rows; i++) {
        if (!(mgvi_coef_pick(&p->row.scale, i, 0) > 0))
            continue;
        s->row[s->n++] = i;
        for (mgvi_raw_entry e = mgvi_raw_begin(s->rows, i); mgvi_raw_next(&e);)
            largest[e.j] = fmax(largest[e.j], fabs(e.x));
    }
    for (int64_t j = 0; j < cols; j++)
        if (largest[j] > 0) {
            s->unit[s->c] = unit_for(largest[j]);
            s->col[s->c++] = j;
        }
    return MGV_OK;
}

static mgv_status fill_rows(state *s)
{
    const int64_t n = s->n, c = s->c;
    int64_t *at;
    MGVI_TRY(MGVI_ARRAY(&s->arena, at, s->p->A->cols));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->a, (size_t)(n * c)));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->w, c));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->fixed, c));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->free, c));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->f, n));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->weight, n));
    MGVI_TRY(MGVI_ARRAY(&s->arena, s->basis, (size_t)c + 1));
    MGVI_TRY(MGVI_SCRATCH(&s->arena, s->T, (size_t)((c + 2) * (n + c + 1))));
    for (int64_t j = 0; j < c; j++)
        at[s->col[j]] = j;
    for (int64_t i = 0; i < n; i++) {
        double *x = s->a + i * c, largest = 0;
        for (mgvi_raw_entry e = mgvi_raw_begin(s->rows, s->row[i]); mgvi_raw_next(&e);) {
            x[at[e.j]] = e.x * s->unit[at[e.j]];
            largest = fmax(largest, fabs(x[at[e.j]]));
        }
        const double unit = largest > 0 ? unit_for(largest) : 1;
        for (int64_t j = 0; j < c; j++)
            x[j] *= unit;
    }
    return MGV_OK;
}

/* ---- the simplex method ---------------------------------------------------------------------- */

static mgvi_two *row_of(const state *s, int64_t r) { return s->T + r * s->width; }

/* The rows that are not q_0's have their s or t in the basis, whichever is not negative. */
static void start(state *s)
{
    const int64_t n = s->n, m = s->free_n, c = s->c;
    s->width = n + m + 1;
    mgvi_two *cost = row_of(s, m + 1), *sum = row_of(s, m);
    memset(s->T, 0, (size_t)((m + 2) * s->width) * sizeof *s->T);
    for (int64_t i = 0; i < n; i++) {
        sum[i] = (mgvi_two){1, 0};
        cost[i] = mgvi_two_sub(s->f[i], s->f[0]);
    }
    sum[n + m] = (mgvi_two){1, 0};
    cost[n + m] = mgvi_two_negate(s->f[0]);
    s->basis[m] = 0;
    for (int64_t j = 0; j < m; j++) {
        mgvi_two *x = row_of(s, j);
        const double *a = s->a + s->free[j], side = a[0] > 0 ? -1 : 1;
        for (int64_t i = 0; i < n; i++) {
            x[i] = mgvi_two_sum(side * a[i * c], -side * a[0]);
            cost[i] = mgvi_two_sub(cost[i], x[i]);
        }
        x[n + j] = (mgvi_two){side, 0};
        x[n + m] = (mgvi_two){-side * a[0], 0};
        cost[n + j] = (mgvi_two){1 - side, 0};
        cost[n + m] = mgvi_two_sub(cost[n + m], x[n + m]);
        s->basis[j] = side > 0 ? n + j : n + m + j;
    }
}

/* A variable whose cost is negative: the most, or the first one by Bland's rule; -1: none. */
static int64_t entering(const state *s, bool first)
{
    const mgvi_two *cost = row_of(s, s->free_n + 1);
    const int64_t count = s->n + s->free_n;
    int64_t best = -1;
    double least = -NOTHING;
    for (int64_t v = 0; v < count + s->free_n; v++) {
        const double d = v < count ? cost[v].hi : 2 - cost[v - s->free_n].hi;
        if (d < least) {
            least = d;
            best = v;
            if (first)
                break;
        }
    }
    return best;
}

/* The entry of variable v in row r: t_j is the opposite of s_j. */
static mgvi_two entry(const state *s, int64_t r, int64_t v)
{
    const int64_t count = s->n + s->free_n;
    const mgvi_two x = row_of(s, r)[v < count ? v : v - s->free_n];
    return v < count ? x : mgvi_two_negate(x);
}

static int64_t leaving(const state *s, int64_t v)
{
    int64_t best = -1;
    double least = INFINITY;
    for (int64_t r = 0; r <= s->free_n; r++) {
        const double x = entry(s, r, v).hi;
        if (!(x > 1e-20))
            continue;
        const double ratio = fmax(row_of(s, r)[s->width - 1].hi, 0) / x;
        if (ratio < least || (ratio == least && s->basis[r] < s->basis[best])) {
            least = ratio;
            best = r;
        }
    }
    return best;
}

static void pivot(state *s, int64_t r, int64_t v)
{
    mgvi_two *own = row_of(s, r);
    const mgvi_two scale = quotient((mgvi_two){1, 0}, entry(s, r, v));
    for (int64_t k = 0; k < s->width; k++)
        own[k] = mgvi_two_mul(own[k], scale);
    for (int64_t t = 0; t <= s->free_n + 1; t++) {
        mgvi_two *x = row_of(s, t), factor = entry(s, t, v);
        if (t == s->free_n + 1 && v >= s->n + s->free_n) /* the cost of t_j is 2 - that of s_j */
            factor = mgvi_two_add_real(factor, 2);
        if (t == r || (factor.hi == 0 && factor.lo == 0))
            continue;
        for (int64_t k = 0; k < s->width; k++)
            if (own[k].hi != 0)
                x[k] = mgvi_two_sub(x[k], mgvi_two_mul(factor, own[k]));
    }
    s->basis[r] = v;
}

/* The value of (14) with what is fixed; NaN: no end was reached. */
static double solve(state *s)
{
    enum { STUCK = 20 }; /* pivots without progress, after which Bland's rule sees to the end */
    const int64_t most = 50 * (s->n + s->free_n) + 100;
    const double each = (double)(s->free_n + 2) * (double)(s->n + s->free_n + 1);
    double value = INFINITY;
    int64_t idle = 0;
    start(s);
    for (int64_t k = 0; k < most && s->left >= each && !mgvi_ctx_cut(s->p->ctx);
         k++, s->left -= each) {
        const int64_t v = entering(s, idle > STUCK);
        const double now = -mgvi_two_real(row_of(s, s->free_n + 1)[s->width - 1]);
        if (v < 0)
            return now;
        const int64_t r = leaving(s, v);
        if (r < 0)
            return NAN;
        idle = now < value ? 0 : idle + 1;
        value = fmin(value, now);
        pivot(s, r, v);
    }
    return NAN;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void free_columns(state *s)
{
    s->free_n = 0;
    for (int64_t j = 0; j < s->c; j++)
        if (!s->fixed[j])
            s->free[s->free_n++] = j;
}

/* w = -y, the multipliers: the cost of s_j is 1 - y_j. */
static void read_weights(state *s)
{
    const mgvi_two *cost = row_of(s, s->free_n + 1) + s->n;
    for (int64_t j = 0; j < s->free_n; j++)
        s->w[s->free[j]] = mgvi_two_real(mgvi_two_add_real(cost[j], -1));
}

static void read_rows(state *s, double *q)
{
    memset(q, 0, (size_t)s->p->A->rows * sizeof *q);
    for (int64_t r = 0; r <= s->free_n; r++) {
        const double x = mgvi_two_real(row_of(s, r)[s->width - 1]);
        if (s->basis[r] < s->n && x > 1e-20)
            q[s->row[s->basis[r]]] = x;
    }
}

/* Whether the weights as they are separate, nearly for sure. */
static bool separates(const state *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        mgvi_two z = {0, 0};
        for (int64_t j = 0; j < s->c; j++)
            z = mgvi_two_fma(z, s->a[i * s->c + j], s->w[j]);
        if (!(mgvi_two_real(z) > 0))
            return false;
    }
    return true;
}

/* The largest free weight stays as it is rounded, and its column becomes a cost. */
static void fix_one(state *s, double factor)
{
    int64_t at = s->free[0];
    for (int64_t j = 0; j < s->free_n; j++)
        if (fabs(s->w[s->free[j]]) > fabs(s->w[at]))
            at = s->free[j];
    s->w[at] *= factor;
    s->fixed[at] = true;
    for (int64_t i = 0; i < s->n; i++)
        s->f[i] = mgvi_two_fma(s->f[i], s->a[i * s->c + at], s->w[at]);
    free_columns(s);
}

/* The length of w is free. Which of its entries are doubles depends on it, so several are tried. */
static bool round_weights(state *s)
{
    enum { ATTEMPTS = 12 };
    for (int k = 0; k < ATTEMPTS; k++) {
        double factor = 1 - k / 25.0;
        bool left = true;
        for (read_weights(s); left && !separates(s); factor = 1) {
            fix_one(s, factor);
            left = s->free_n > 0 && solve(s) > NOTHING;
            if (left)
                read_weights(s);
        }
        if (left)
            return true;
        memset(s->fixed, 0, (size_t)s->c * sizeof *s->fixed);
        memset(s->f, 0, (size_t)s->n * sizeof *s->f);
        free_columns(s);
        if (!(solve(s) > NOTHING))
            return false;
    }
    return false;
}

/* In the user's units: a_ij carries the column's power of two, so w_j does too. */
static void hand_out(const state *s, double *w)
{
    memset(w, 0, (size_t)s->p->A->cols * sizeof *w);
    for (int64_t j = 0; j < s->c; j++)
        w[s->col[j]] = s->w[j] * s->unit[j];
}

static mgv_status decide(state *s, double *w, double *q, mgvi_decision *out)
{
    MGVI_TRY(choose_rows(s));
    if (s->n == 0 || (double)(s->c + 2) * (double)(s->n + s->c + 1) * (double)s->c > s->left)
        return MGV_OK;
    MGVI_TRY(fill_rows(s));
    free_columns(s);
    const double value = solve(s);
    if (value > NOTHING && round_weights(s)) {
        hand_out(s, w);
        *out = MGVI_DECIDED_SEPARABLE;
    } else if (value <= NOTHING) {
        read_rows(s, q);
        *out = MGVI_DECIDED_INSEPARABLE;
    }
    return MGV_OK;
}

/* Only where the constraints are those of the rows as they are. */
static bool fits(const mgv_problem *p)
{
    return mgvi_problem_has_margin(p) && !(p->A->ops->can & (MGVI_CONTRAST | MGVI_KERNEL)) &&
           (p->A->ops->can & MGVI_ROW) && p->lanes == 1 && !mgvi_problem_is_bounded(p) &&
           !(p->view.row_scale && p->free_cols) && !(p->view.centre && !p->free_cols);
}

mgv_status mgvi_decide(const mgv_problem *p, double most, double *w, double *q, mgvi_decision *out)
{
    state s = {.p = p, .left = most};
    *out = MGVI_DECIDED_NOT;
    if (!fits(p))
        return MGV_OK;
    mgvi_arena_init(&s.arena, p->ctx);
    mgv_status st = mgvi_rows_new(p->A, &s.arena, &s.rows);
    if (st == MGV_OK)
        st = decide(&s, w, q, out);
    mgvi_arena_free(&s.arena);
    return st;
}
