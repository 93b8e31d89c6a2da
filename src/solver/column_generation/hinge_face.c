/* hinge_face.c - guesses the face of the solution from a point of the interior. On the central path
 * a free row has slack and xi of the order of tau, another one its a or its c; an active column has
 * its multiplier of that order, another one its weight. So
 *   rows by min(a/(s slack), c/(s xi)),   columns by max(p/zp, q/zq), (11) fall into two groups
 * with a gap between that grows as 1/tau^2. A vertex (lambda = 0) has as many free rows as active
 * columns and intercept: one of the two cuts then decides both. */
#include "solver/column_generation/hinge_interior_impl.h"

#include <math.h>
#include <string.h>

/* A point of a face is exact up to rounding below this relative gap. */
static const double EXACT = 1e-12;

enum { FACES = MGVI_HINGE_FACES };

static void rank_rows(const mgvi_hinge_interior *k, mgvi_ranked *keys)
{
    for (int64_t t = 0; t < k->live; t++) {
        const int32_t i = k->row[t];
        const double ratio = fmin(k->a[i] / k->slack[i], k->c[i] / k->xi[i]);
        keys[t] = (mgvi_ranked){log(ratio / k->p->s[i]), i};
    }
    mgvi_rank(keys, k->live);
}

static void rank_columns(const mgvi_hinge_interior *k, mgvi_ranked *keys)
{
    for (int64_t j = 0; j < k->p->cols; j++)
        keys[j] =
            (mgvi_ranked){log(fmax(k->pos[j] / k->z_pos[j], k->neg[j] / k->z_neg[j])), (int32_t)j};
    mgvi_rank(keys, k->p->cols);
}

/* How many stand before the widest gap. */
static int64_t cut(const mgvi_ranked *keys, int64_t count)
{
    int64_t at = count;
    double widest = 0;
    for (int64_t t = 1; t < count; t++)
        if (keys[t - 1].value - keys[t].value > widest) {
            widest = keys[t - 1].value - keys[t].value;
            at = t;
        }
    return at;
}

static uint64_t mix(uint64_t hash, const mgvi_ranked *keys, int64_t count)
{
    uint64_t sum = 0; /* whatever the order */
    for (int64_t t = 0; t < count; t++)
        sum += (uint64_t)(keys[t].index + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 7;
    return (hash ^ sum) * UINT64_C(0x100000001b3) + (uint64_t)count;
}

/* The face of the first rows and columns of the rankings. */
static mgvi_hinge_face make_face(mgvi_hinge_interior *k, const mgvi_ranked *rows, int64_t e,
                                 const mgvi_ranked *cols, int64_t m)
{
    const mgvi_hinge_block *p = k->p;
    for (int64_t i = 0; i < p->rows; i++)
        k->upper[i] = k->a[i] > k->c[i];
    for (int64_t t = 0; t < e; t++) {
        k->face_row[t] = rows[t].index;
        k->upper[rows[t].index] = false;
    }
    for (int64_t t = 0; t < m; t++) {
        k->face_col[t] = cols[t].index;
        k->sign[t] = k->w[cols[t].index] < 0 ? -1 : 1;
    }
    return (mgvi_hinge_face){.free_rows = e,
                             .active_cols = m,
                             .row = k->face_row,
                             .col = k->face_col,
                             .upper = k->upper,
                             .sign = k->sign};
}

/* The exact point of a face, judged; kept when it is the best so far. */
static mgv_status try_face(mgv_ctx *ctx, mgvi_hinge_interior *k, const mgvi_hinge_face *face,
                           bool *exact)
{
    const mgvi_hinge_block *p = k->p;
    const mgvi_hinge_point near = {.theta = k->a, .w = k->w, .b = k->b};
    mgvi_hinge_point at = {.theta = k->face_theta, .w = k->face_w};
    bool solved;
    MGVI_TRY(mgvi_hinge_polish(ctx, p, face, &near, &at, &solved));
    if (!solved)
        return MGV_OK;
    double *z = k->r, *v = k->at.g; /* free between two steps */
    mgvi_hinge_scores(ctx, p, &at, z);
    if (!p->gram)
        mgvi_hinge_duals(ctx, p, at.theta, v);
    const mgvi_hinge_values f = mgvi_hinge_judge(p, &at, z, v);
    const double gap = (f.primal - f.dual) / fmax(fabs(f.primal), 1e-300);
    if (!(gap < k->best_gap))
        return MGV_OK;
    k->best_gap = gap;
    k->best_b = at.b;
    memcpy(k->best_theta, at.theta, (size_t)p->rows * sizeof *at.theta);
    if (!p->gram)
        memcpy(k->best_w, at.w, (size_t)p->cols * sizeof *at.w);
    *exact = gap <= EXACT;
    return MGV_OK;
}

/* How many stand above `least`. */
static int64_t above(const mgvi_ranked *keys, int64_t count, double least)
{
    int64_t t = 0;
    while (t < count && keys[t].value > least)
        t++;
    return t;
}

/* The sizes of the faces to try: rows and columns on their side of 1 in natural units, and before
 * the widest gap. */
static void sizes(const mgvi_hinge_interior *k, const mgvi_ranked *rows, const mgvi_ranked *cols,
                  int64_t e[FACES], int64_t a[FACES])
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = k->live, m = p->gram ? 0 : p->cols, free = p->y ? 1 : 0;
    double largest = 0;
    for (int64_t j = 0; j < m; j++)
        largest = fmax(largest, fabs(k->w[j]));
    const int64_t row[2] = {above(rows, n, 0), cut(rows, n)};
    const int64_t col[2] = {above(cols, m, log(largest / p->mu)), cut(cols, m)};
    for (int t = 0; t < FACES; t++) {
        e[t] = row[t / 2];
        a[t] = m > 0 ? col[t % 2] : 0;
    }
    if (p->lambda == 0) { /* a vertex: the rows decide, or the columns */
        a[0] = e[0] - free;
        e[1] = (a[1] = col[0]) + free;
        a[2] = e[2] - free;
        e[3] = row[1]; /* not a vertex: as they are */
        a[3] = col[1];
    }
}

/* How many of the faces are worth a factorisation at this gap. */
static int worth_trying(double gap) { return gap > 1e-3 ? 1 : gap > 1e-5 ? 2 : FACES; }

/* Whether the first `count` of `all` stand apart from the others. */
static bool apart(const mgvi_ranked *keys, int64_t count, int64_t all)
{
    static const double FACTOR = 1; /* of e */
    return count == 0 || count >= all || keys[count - 1].value - keys[count].value > FACTOR;
}

/* Whether a face is worth its factor: a small one always, a large one when both rankings have a gap
 * there, else it is a guess that a later step makes better. */
static bool clear_cut(const mgvi_ranked *rows, int64_t e, int64_t n, const mgvi_ranked *cols,
                      int64_t a, int64_t m)
{
    enum { SMALL = 200 };
    return (e <= SMALL && a <= SMALL) || (apart(rows, e, n) && apart(cols, a, m));
}

mgv_status mgvi_hinge_try_faces(mgv_ctx *ctx, mgvi_hinge_interior *k, double gap, bool *exact)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t n = k->live, m = p->gram ? 0 : p->cols;
    mgvi_ranked *rows = k->keys, *cols = k->keys + n;
    int64_t e[FACES], a[FACES];
    rank_rows(k, rows);
    if (m > 0)
        rank_columns(k, cols);
    sizes(k, rows, cols, e, a);
    for (int t = 0; t < worth_trying(gap) && !*exact; t++) {
        if (a[t] < 0 || a[t] > m || e[t] > n || !clear_cut(rows, e[t], n, cols, a[t], m))
            continue;
        const uint64_t hash = mix(mix(1, rows, e[t]), cols, a[t]);
        bool known = false;
        for (int r = 0; r < FACES; r++)
            known = known || hash == k->tried[r];
        if (known)
            continue;
        k->tried[t] = hash;
        const mgvi_hinge_face face = make_face(k, rows, e[t], cols, a[t]);
        MGVI_TRY(try_face(ctx, k, &face, exact));
    }
    return MGV_OK;
}
