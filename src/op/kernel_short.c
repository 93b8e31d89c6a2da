/* kernel_short.c - sums over float64 kernel values between points of few columns: a value costs
 * about as much to compute as to read from memory, so none is kept, and where the points summed
 * over are among those that the sums are for, a value serves both of its points. Sums are twofold:
 * an error of MGVI_SHORT_TERMS roundings whatever their length, where one after the other would
 * have as many as there are terms. */
#include "op/kernel_impl.h"

#include "base/limit.h"
#include "base/threads.h"
#include "base/twofold.h"
#include "simd/short_points.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    GROUP = MGVI_SHORT_GROUP,
    FOUR = MGVI_SHORT_FOUR,
    GRAIN = 1 << 16, /* values that a task makes */
    MOST_PARTS = 32,
    MOST_TOTALS = 1 << 22 /* numbers of all parts, unless two of them are more */
};

typedef struct short_sums {
    mgv_ctx *ctx;
    const mgvi_kernel *kernel;
    const mgvi_point_list *p, *q;
    mgvi_short_form form;
    double scale;           /* of squares, of lengths; product: of products */
    int64_t d, groups;      /* columns; p in groups, the last filled up with weights of 0 */
    double *x, *own, *c;    /* p in fours */
    int64_t *place;         /* in q of every point p; NULL: they are not among these */
    int64_t *others, count; /* of the points q */
    int64_t parts, tasks;   /* of the groups p, of the others */
    double *totals;         /* hi and lo of every part: a number for every point of all groups */
    double *sums;
} short_sums;

static double own_of(const short_sums *s, double square)
{
    return s->form == MGVI_SHORT_PRODUCT ? -0.5 * s->scale * square : 0;
}

static void lay_out(short_sums *s, const double *c)
{
    double x[MGVI_SHORT_COLUMNS];
    const double scale = s->form == MGVI_SHORT_PRODUCT ? s->scale : 1;
    for (int64_t t = 0; t < s->groups * GROUP; t++) {
        const bool there = t < s->p->count;
        double *to = s->x + t / FOUR * FOUR * s->d + t % FOUR;
        const double square = mgvi_point_expand(s->p, there ? t : 0, x);
        s->own[t] = own_of(s, square);
        s->c[t] = there ? c[t] : 0;
        for (int64_t j = 0; j < s->d; j++)
            to[j * FOUR] = scale * x[j];
    }
}

/* The points `at`, or from `first` on, of a list, by columns; what fills them up is the first. */
static void fill_group(const short_sums *s, const mgvi_point_list *list, const int64_t *at,
                       int64_t first, int64_t count, double *q, double *own)
{
    double x[MGVI_SHORT_COLUMNS];
    for (int64_t l = 0; l < GROUP; l++) {
        const int64_t t = l < count ? l : 0;
        own[l] = own_of(s, mgvi_point_expand(list, at ? at[first + t] : first + t, x));
        for (int64_t j = 0; j < s->d; j++)
            q[j * GROUP + l] = x[j];
    }
}

static mgvi_short_points points_from(const short_sums *s, int64_t four, const double *q,
                                     const double *own)
{
    return (mgvi_short_points){.p = s->x + four * FOUR * s->d,
                               .q = q,
                               .own_p = s->own + four * FOUR,
                               .own_q = own,
                               .scale = s->scale,
                               .fours = s->groups * (GROUP / FOUR) - four,
                               .d = s->d,
                               .form = s->form};
}

/* Some of the other points with all p. */
static void others_task(void *arg, int64_t task)
{
    const short_sums *s = arg;
    const int64_t groups = (s->count + GROUP - 1) / GROUP;
    double q[MGVI_SHORT_COLUMNS * GROUP], own[GROUP];
    MGVI_FOR_BLOCK (g, groups, s->tasks, task) {
        double hi[GROUP] = {0}, lo[GROUP] = {0};
        const int64_t first = g * GROUP, left = s->count - first;
        if (mgvi_ctx_cut(s->ctx))
            return;
        fill_group(s, s->q, s->others, first, left, q, own);
        const mgvi_short_points x = points_from(s, 0, q, own);
        s->ctx->simd->short_points->sums(&x, s->c, NULL, (mgvi_short_totals){hi, lo},
                                         (mgvi_short_totals){NULL, NULL});
        for (int64_t l = 0; l < GROUP && l < left; l++)
            s->sums[s->others ? s->others[first + l] : first + l] += hi[l] + lo[l];
    }
}

/* The groups of a part with the points from their own on: beyond its own a value serves both. */
static void part_task(void *arg, int64_t part)
{
    const short_sums *s = arg;
    const mgvi_simd *simd = s->ctx->simd;
    const int64_t points = s->groups * GROUP;
    const int64_t end = mgvi_triangle_begin(s->groups, s->parts, part + 1);
    const mgvi_short_totals none = {NULL, NULL};
    double q[MGVI_SHORT_COLUMNS * GROUP], own[GROUP];
    double *hi = s->totals + 2 * part * points, *lo = hi + points;
    memset(hi, 0, 2 * (size_t)points * sizeof *hi);
    for (int64_t g = mgvi_triangle_begin(s->groups, s->parts, part); g < end; g++) {
        const int64_t first = g * GROUP, next = first + GROUP;
        const mgvi_short_totals total = {hi + first, lo + first};
        if (mgvi_ctx_cut(s->ctx))
            return;
        fill_group(s, s->p, NULL, first, s->p->count - first, q, own);
        mgvi_short_points x = points_from(s, first / FOUR, q, own);
        x.fours = GROUP / FOUR;
        simd->short_points->sums(&x, s->c + first, NULL, total, none);
        x = points_from(s, next / FOUR, q, own);
        simd->short_points->sums(&x, s->c + next, s->c + first, total,
                                 (mgvi_short_totals){hi + next, lo + next});
    }
}

static void add_parts(const short_sums *s)
{
    const int64_t points = s->groups * GROUP;
    for (int64_t t = 0; t < s->p->count; t++) {
        double hi = 0, lo = 0;
        for (int64_t part = 0; part < s->parts; part++) {
            const double *total = s->totals + 2 * part * points + t;
            mgvi_two_feed(&hi, &lo, total[0], 1);
            lo += total[points];
        }
        s->sums[s->place[t]] += hi + lo;
    }
}

/* Where every p is among the points q, once: its place there, and the others. */
static mgv_status match(short_sums *s)
{
    const int64_t rows = s->q->points->rows.rows;
    s->count = s->q->count;
    if (s->p->points != s->q->points || s->p->count > s->q->count)
        return MGV_OK;
    int64_t *at = mgvi_alloc(s->ctx, (size_t)rows + 1, sizeof *at);
    s->place = mgvi_alloc(s->ctx, (size_t)s->p->count, sizeof *s->place);
    s->others = mgvi_alloc(s->ctx, (size_t)s->q->count, sizeof *s->others);
    bool among = at && s->place && s->others;
    const mgv_status st = among ? MGV_OK : MGV_E_MEMORY;
    for (int64_t i = 0; among && i < rows; i++)
        at[i] = -1;
    for (int64_t t = 0; among && t < s->q->count; t++) {
        int64_t *own = &at[mgvi_point_at(s->q, t)];
        among = *own < 0;
        *own = t;
    }
    for (int64_t t = 0; among && t < s->p->count; t++) {
        int64_t *own = &at[mgvi_point_at(s->p, t)];
        among = (s->place[t] = *own) >= 0;
        *own = -1;
    }
    if (among) {
        s->count = 0;
        for (int64_t t = 0; t < s->q->count; t++)
            if (at[mgvi_point_at(s->q, t)] == t)
                s->others[s->count++] = t;
    } else {
        mgvi_release(s->ctx, s->others);
        mgvi_release(s->ctx, s->place);
        s->place = s->others = NULL;
    }
    mgvi_release(s->ctx, at);
    return st;
}

static void choose_form(short_sums *s)
{
    const double log2_e = 0x1.71547652b82fep0, sigma2 = s->kernel->sigma2;
    if (mgvi_kernel_short_cancels(s->kernel, s->p->points, s->q->points)) {
        s->form = MGVI_SHORT_PRODUCT;
        s->scale = log2_e / sigma2;
    } else if (s->kernel->kind == MGVI_KERNEL_RBF) {
        s->form = MGVI_SHORT_SQUARE;
        s->scale = log2_e / (2 * sigma2);
    } else {
        s->form = MGVI_SHORT_ROOT;
        s->scale = log2_e / sqrt(sigma2);
    }
}

mgv_status mgvi_kernel_short_sums(mgv_ctx *ctx, const mgvi_kernel *kernel, const mgvi_point_list *p,
                                  const double *c, const mgvi_point_list *q, double *sums)
{
    short_sums s = {.ctx = ctx, .kernel = kernel, .p = p, .q = q, .sums = sums};
    s.d = p->points->rows.cols;
    s.groups = (p->count + GROUP - 1) / GROUP;
    const int64_t points = s.groups * GROUP, room = MOST_TOTALS / (2 * points);
    choose_form(&s);
    s.x = mgvi_alloc(ctx, (size_t)(points * (s.d + 2)), sizeof *s.x);
    mgv_status st = s.x ? match(&s) : MGV_E_MEMORY;
    s.parts = room < 2 ? 2 : room < MOST_PARTS ? room : MOST_PARTS;
    if (st == MGV_OK && s.place) {
        s.totals = mgvi_alloc(ctx, (size_t)(s.parts * 2 * points), sizeof *s.totals);
        st = s.totals ? MGV_OK : MGV_E_MEMORY;
    }
    if (st == MGV_OK) {
        s.own = s.x + points * s.d;
        s.c = s.own + points;
        lay_out(&s, c);
        s.tasks = mgvi_block_count(s.count * points, GRAIN, (s.count + GROUP - 1) / GROUP);
        mgvi_ctx_run(ctx, s.tasks, others_task, &s);
    }
    if (st == MGV_OK && s.place) {
        mgvi_ctx_run(ctx, s.parts, part_task, &s);
        add_parts(&s);
    }
    mgvi_release(ctx, s.totals);
    mgvi_release(ctx, s.others);
    mgvi_release(ctx, s.place);
    mgvi_release(ctx, s.x);
    return st;
}
