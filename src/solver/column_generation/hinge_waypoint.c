/* hinge_waypoint.c - rows and columns that come into an interior point on its way, and a point of
 * that way to which it goes back for many of them: products there are large beside what rows and
 * columns lack, near the end they are not, and steps would be short. */
#include "solver/column_generation/hinge_interior_impl.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_hinge_waypoint_new(mgvi_arena *arena, int64_t rows, int64_t cols,
                                   mgvi_hinge_waypoint *out)
{
    *out = (mgvi_hinge_waypoint){.cols = 0};
    MGVI_TRY(MGVI_VECTORS(arena, (size_t)rows, &out->a, &out->slack, &out->xi));
    return MGVI_VECTORS(arena, (size_t)cols, &out->w, &out->pos, &out->neg, &out->z_pos,
                        &out->z_neg);
}

void mgvi_hinge_start_column(mgvi_hinge_interior *k, int64_t j, double w, double tau)
{
    static const double LEAST = 0.1; /* of mu */
    const mgvi_hinge_block *p = k->p;
    const double pull = k->v[j] - p->lambda * w;
    k->w[j] = w;
    k->z_pos[j] = fmax(p->mu - pull, LEAST * p->mu);
    k->z_neg[j] = fmax(p->mu + pull, LEAST * p->mu);
    k->pos[j] = fmax(tau / k->z_pos[j], tau / k->z_neg[j] + w);
    k->neg[j] = fmax(tau / k->z_neg[j], tau / k->z_pos[j] - w);
}

void mgvi_hinge_put_back(mgvi_hinge_interior *k, int64_t i)
{
    const double s = k->p->s[i], off = fabs(k->z[i] - 1),
                 small = fmin(0.1, k->tau / (MGVI_HINGE_CLEAR * s));
    const bool upper = k->a[i] > k->c[i];
    k->rests[i] = MGVI_HINGE_BACK;
    k->l[i] = k->a[i] = upper ? s * (1 - small) : s * small;
    k->c[i] = s - k->a[i];
    k->slack[i] = (k->z[i] > 1 ? off : 0) + (upper ? k->tau / k->a[i] : MGVI_HINGE_CLEAR);
    k->xi[i] = (k->z[i] < 1 ? off : 0) + (upper ? MGVI_HINGE_CLEAR : k->tau / k->c[i]);
}

void mgvi_hinge_keep_waypoint(mgvi_hinge_interior *k)
{
    mgvi_hinge_waypoint *way = k->halfway;
    const size_t rows = (size_t)k->p->rows * sizeof *k->a, cols = (size_t)k->p->cols * sizeof *k->a;
    const struct {
        double *to, *from;
        size_t bytes;
    } kept[] = {{way->a, k->a, rows},         {way->slack, k->slack, rows},
                {way->xi, k->xi, rows},       {way->w, k->w, cols},
                {way->pos, k->pos, cols},     {way->neg, k->neg, cols},
                {way->z_pos, k->z_pos, cols}, {way->z_neg, k->z_neg, cols}};
    for (size_t t = 0; t < sizeof kept / sizeof *kept; t++)
        memcpy(kept[t].to, kept[t].from, kept[t].bytes);
    way->b = k->b;
    way->tau = k->tau;
    way->cols = k->p->cols;
}

/* Theta of live rows, those that rested then at their bound; the slacks of the others. */
static void resume_rows(mgvi_hinge_interior *k)
{
    const mgvi_hinge_waypoint *way = k->halfway;
    k->live = 0;
    for (int64_t i = 0; i < k->p->rows; i++) {
        if (k->rests[i] != MGVI_HINGE_LIVE && k->rests[i] != MGVI_HINGE_BACK)
            continue;
        k->row[k->live++] = (int32_t)i;
        k->l[i] = k->a[i] = way->a[i];
        k->c[i] = k->p->s[i] - k->a[i];
        k->slack[i] = way->slack[i];
        k->xi[i] = way->xi[i];
    }
}

static void resume_columns(mgvi_hinge_interior *k)
{
    const mgvi_hinge_waypoint *way = k->halfway;
    const size_t known = (size_t)way->cols * sizeof *k->w;
    memcpy(k->w, way->w, known);
    memcpy(k->pos, way->pos, known);
    memcpy(k->neg, way->neg, known);
    memcpy(k->z_pos, way->z_pos, known);
    memcpy(k->z_neg, way->z_neg, known);
    for (int64_t j = way->cols; j < k->p->cols; j++)
        mgvi_hinge_start_column(k, j, 0, way->tau);
}

void mgvi_hinge_resume(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    k->b = k->halfway->b;
    k->tau = k->halfway->tau;
    memset(k->tried, 0, sizeof k->tried);
    resume_rows(k);
    mgvi_hinge_duals(ctx, p, k->a, k->v);
    resume_columns(k);
    const mgvi_hinge_point at = {.theta = k->a, .w = k->w, .b = k->b};
    mgvi_hinge_scores(ctx, p, &at, k->z);
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        if (!(k->l[i] > 0 && k->c[i] > 0))
            mgvi_hinge_put_back(k, i);
    }
    mgvi_hinge_duals(ctx, p, k->a, k->v);
    k->tau = INFINITY; /* there was no step before */
}
