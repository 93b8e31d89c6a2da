/* auto_problems.h - problems that nobody tuned on, drawn from a seed: every combination of shape,
 * density, scaling, noise, classes, loss, penalty, strength, kernel and intercept. */
#ifndef BENCH_AUTO_PROBLEMS_H
#define BENCH_AUTO_PROBLEMS_H

#include "base/rng.h"
#include "timing.h"

typedef struct drawn {
    int64_t n, d, classes; /* classes 0: a quantity */
    double density, noise; /* noise: the part of the labels drawn anew, or of the target's spread */
    int scaling;           /* of the columns, see draw_column */
    char options[200];     /* of the problem */
    char text[320];        /* all of it, for the reader */
} drawn;

static inline double draw_log(mgvi_rng *rng, double low, double high)
{
    return low * pow(high / low, mgvi_rng_uniform(rng));
}

static inline int64_t draw_size(mgvi_rng *rng, double low, double high)
{
    return (int64_t)llround(draw_log(rng, low, high));
}

static inline bool draw_chance(mgvi_rng *rng, double p) { return mgvi_rng_uniform(rng) < p; }

/* ---- shape ----------------------------------------------------------------------------------- */

static inline void draw_shape(mgvi_rng *rng, drawn *p)
{
    static const double MOST_ENTRIES = 4e6;
    static const double densities[] = {1, 1, 1, 0.3, 0.05, 0.01};
    static const struct {
        double n[2], d[2];
    } shapes[] = {
        {{5, 60}, {1, 30}},          /* tiny */
        {{100, 1000}, {3, 100}},     /* small */
        {{2000, 40000}, {2, 60}},    /* tall */
        {{30, 300}, {500, 8000}},    /* wide */
        {{200, 1500}, {200, 1500}},  /* square */
        {{3000, 20000}, {100, 800}}, /* large */
    };
    const uint32_t k = mgvi_rng_below(rng, sizeof shapes / sizeof *shapes);
    p->n = draw_size(rng, shapes[k].n[0], shapes[k].n[1]);
    p->d = draw_size(rng, shapes[k].d[0], shapes[k].d[1]);
    p->density = densities[mgvi_rng_below(rng, sizeof densities / sizeof *densities)];
    if (p->density < 1 && k >= 2 && draw_chance(rng, 0.5)) /* text: more columns, few entries */
        p->d *= 8;
    p->density = fmin(fmax(p->density, 2 / (double)p->d), 1);
    p->n = (int64_t)fmin((double)p->n, fmax(5, MOST_ENTRIES / (p->density * (double)p->d)));
    p->scaling = (int)mgvi_rng_below(rng, 6);
    p->noise = draw_chance(rng, 0.25) ? 0 : draw_log(rng, 0.01, 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Size and centre of a column: alike, a little and very different, off centre, counts, bytes. */
static inline void draw_column(mgvi_rng *rng, int scaling, double *size, double *centre)
{
    *size = 1;
    *centre = 0;
    switch (scaling) {
    case 1:
        *size = draw_log(rng, 0.1, 10);
        break;
    case 2:
        *size = draw_log(rng, 1e-3, 1e3);
        *centre = *size * mgvi_rng_normal(rng);
        break;
    case 3:
        *centre = 3 * mgvi_rng_normal(rng);
        break;
    case 5:
        *size = 60;
        *centre = 128;
        break;
    default:
        break;
    }
}

static inline double draw_entry(mgvi_rng *rng, int scaling, double size, double centre, double z)
{
    switch (scaling) {
    case 4: /* counts, most of them 1 */
        return 1 + floor(-0.7 * log(1 - mgvi_rng_uniform(rng)) + 0.3 * fabs(z));
    case 5:
        return fmin(fmax(round(centre + size * z), 0), 255);
    default:
        return centre + size * z;
    }
}

typedef struct drawn_table {
    int64_t *start;
    int32_t *index;
    double *value, *label;
} drawn_table;

/* Rows have a few factors in common, as real ones do; the classes differ along directions of
 * `classes` (or one) weight vectors with a few large entries. */
static inline void fill_table(mgvi_rng *rng, const drawn *p, drawn_table *t)
{
    enum { FACTORS = 5 };
    const int64_t k = p->classes > 2 ? p->classes : 1;
    double *size = malloc((size_t)p->d * sizeof *size), *centre = malloc((size_t)p->d * 8);
    double *load = malloc((size_t)(p->d * FACTORS) * sizeof *load);
    double *w = malloc((size_t)(p->d * k) * sizeof *w);
    const double part = draw_log(rng, 0.02, 1), common = mgvi_rng_uniform(rng);
    const int64_t per_row = (int64_t)fmax(1, round(p->density * (double)p->d));
    for (int64_t j = 0; j < p->d; j++) {
        draw_column(rng, p->scaling, &size[j], &centre[j]);
        for (int f = 0; f < FACTORS; f++)
            load[j * FACTORS + f] = common * mgvi_rng_normal(rng);
        for (int64_t c = 0; c < k; c++)
            w[j * k + c] = draw_chance(rng, part) ? mgvi_rng_normal(rng) : 0;
    }
    t->start[0] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double factor[FACTORS], score[16] = {0};
        int64_t at = t->start[i];
        for (int f = 0; f < FACTORS; f++)
            factor[f] = mgvi_rng_normal(rng);
        for (int64_t e = 0, j = -1; e < per_row; e++) {
            if (p->density >= 1)
                j = e;
            else /* one of every d / per_row columns */
                j = e * p->d / per_row +
                    mgvi_rng_below(rng, (uint32_t)((e + 1) * p->d / per_row - e * p->d / per_row));
            double z = mgvi_rng_normal(rng);
            for (int f = 0; f < FACTORS; f++)
                z += load[j * FACTORS + f] * factor[f];
            t->index[at] = (int32_t)j;
            t->value[at++] = draw_entry(rng, p->scaling, size[j], centre[j], z);
            for (int64_t c = 0; c < k; c++)
                score[c] += w[j * k + c] * z;
        }
        t->start[i + 1] = at;
        int64_t best = 0;
        for (int64_t c = 1; c < k; c++)
            best = score[c] > score[best] ? c : best;
        t->label[i] = p->classes == 0 ? score[0] : k > 1 ? (double)best : score[0] > 0;
    }
    free(size);
    free(centre);
    free(load);
    free(w);
}

/* Labels drawn anew, or a target with noise of that part of its spread; and no class left empty. */
static inline void add_noise(mgvi_rng *rng, const drawn *p, double *label)
{
    double square = 0;
    for (int64_t i = 0; i < p->n; i++)
        square += label[i] * label[i] / (double)p->n;
    for (int64_t i = 0; i < p->n; i++)
        if (p->classes == 0)
            label[i] += p->noise * sqrt(square) * mgvi_rng_normal(rng) + 1e-3 * (double)(i % 7);
        else if (draw_chance(rng, p->noise))
            label[i] = mgvi_rng_below(rng, (uint32_t)p->classes);
    for (int64_t i = 0; i < p->classes && i < p->n; i++)
        label[i] = (double)i;
}

/* *t is used in place by the data, and freed after it. */
static inline mgv_data *drawn_data(mgv_ctx *ctx, mgvi_rng *rng, const drawn *p, drawn_table *table)
{
    const int64_t per_row = (int64_t)fmax(1, round(p->density * (double)p->d));
    const size_t nnz = (size_t)(p->n * per_row);
    const drawn_table t = {malloc((size_t)(p->n + 1) * 8), malloc(nnz * 4), malloc(nnz * 8),
                           malloc((size_t)p->n * 8)};
    mgv_data *data;
    *table = t;
    fill_table(rng, p, table);
    add_noise(rng, p, t.label);
    const mgv_status st =
        p->density >= 1 ? mgv_data_from_dense(ctx, MGV_F64, t.value, p->n, p->d, p->d, 1, &data)
                        : mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, t.value, t.start, t.index,
                                               p->n, p->d, &data);
    if (st != MGV_OK || mgv_data_set_labels(ctx, data, t.label) != MGV_OK)
        bench_fail(ctx, "a drawn table");
    return data;
}

static inline void drawn_free(mgv_ctx *ctx, mgv_data *data, drawn_table *t)
{
    mgv_data_free(ctx, data);
    free(t->start);
    free(t->index);
    free(t->value);
    free(t->label);
}

/* ---- the problem ----------------------------------------------------------------------------- */

/* "loss=... penalty=... and more"; weights of the draw by repetition. */
static const char *const two_classes[] = {"loss=hinge",
                                          "loss=hinge",
                                          "loss=hinge",
                                          "loss=squared_hinge",
                                          "loss=logistic",
                                          "loss=logistic",
                                          "loss=smooth_hinge",
                                          "loss=sqrt_hinge",
                                          "loss=exponential",
                                          "loss=hinge penalty=l1",
                                          "loss=hinge penalty=enet",
                                          "loss=squared_hinge penalty=l1",
                                          "loss=logistic penalty=l1",
                                          "loss=logistic penalty=enet",
                                          "loss=margin",
                                          "loss=margin p=1.5",
                                          "loss=margin penalty=l1",
                                          "loss=margin penalty=linf"};
static const char *const many_classes[] = {"loss=hinge",
                                           "loss=hinge",
                                           "loss=logistic",
                                           "loss=squared_hinge",
                                           "loss=softmax",
                                           "loss=softmax",
                                           "loss=crammer_singer",
                                           "loss=crammer_singer",
                                           "loss=hinge penalty=l1",
                                           "loss=logistic penalty=l1",
                                           "loss=hinge multiclass=ovo"};
static const char *const quantity[] = {"loss=squared", "loss=squared penalty=l1",
                                       "loss=squared penalty=enet", "loss=huber",
                                       "loss=huber penalty=l1"};
/* What is asked for less often, one of each. */
static const char *const two_rare[] = {"loss=smooth_hinge penalty=l1",
                                       "loss=sqrt_hinge penalty=enet",
                                       "loss=exponential penalty=l1",
                                       "loss=squared_hinge penalty=enet",
                                       "loss=hinge p=1.5",
                                       "loss=squared_hinge p=1.3",
                                       "loss=logistic p=1.5",
                                       "loss=hinge penalty=entropy",
                                       "loss=logistic penalty=l1_nonneg",
                                       "loss=hinge penalty=linf",
                                       "loss=squared_hinge penalty=owl",
                                       "loss=logistic penalty=tv1d",
                                       "loss=margin p=1.1",
                                       "loss=margin penalty=enet",
                                       "loss=margin penalty=entropy"};
static const char *const many_rare[] = {"loss=hinge penalty=enet",
                                        "loss=squared_hinge penalty=l1",
                                        "loss=logistic penalty=enet",
                                        "loss=smooth_hinge",
                                        "loss=sqrt_hinge",
                                        "loss=exponential",
                                        "loss=logistic multiclass=ovo",
                                        "loss=squared_hinge multiclass=ovo",
                                        "loss=hinge p=1.5",
                                        "loss=margin",
                                        "loss=margin multiclass=ovo"};
static const char *const quantity_rare[] = {
    "loss=huber penalty=enet",   "loss=squared penalty=l1_nonneg",
    "loss=huber penalty=linf",   "loss=squared penalty=owl",
    "loss=squared penalty=tv1d", "loss=squared p=1.5",
    "loss=interval epsilon=0.5", "loss=equal"};
static const char *const two_kernel[] = {
    "loss=hinge",         "loss=hinge",        "loss=hinge",       "loss=logistic",
    "loss=squared_hinge", "loss=smooth_hinge", "loss=exponential", "loss=margin"};
static const char *const many_kernel[] = {
    "loss=hinge",         "loss=hinge",          "loss=logistic", "loss=softmax",
    "loss=squared_hinge", "loss=crammer_singer", "loss=margin",   "loss=hinge multiclass=ovo"};
static const char *const quantity_kernel[] = {"loss=squared", "loss=squared", "loss=huber"};
static const char *const kernels[] = {"rbf", "rbf", "rbf", "laplace", "poly"};
#define DRAW(rng, list) list[mgvi_rng_below(rng, sizeof list / sizeof *list)]

static inline const char *draw_loss(mgvi_rng *rng, const drawn *p, bool kernel)
{
    const bool rare = !kernel && draw_chance(rng, 0.15);
    if (p->classes == 2)
        return kernel ? DRAW(rng, two_kernel) : rare ? DRAW(rng, two_rare) : DRAW(rng, two_classes);
    if (p->classes > 2)
        return kernel ? DRAW(rng, many_kernel)
               : rare ? DRAW(rng, many_rare)
                      : DRAW(rng, many_classes);
    return kernel ? DRAW(rng, quantity_kernel)
           : rare ? DRAW(rng, quantity_rare)
                  : DRAW(rng, quantity);
}

/* Constraints have no strength. */
static inline bool has_strength(const char *what)
{
    return !strstr(what, "margin") && !strstr(what, "interval") && !strstr(what, "equal");
}

/* A strength as people search for it, on a grid of powers of two: the large ones come near to a
 * hard margin where the data allow it. */
static inline double draw_from_grid(mgvi_rng *rng)
{
    enum { LEAST = -10, MOST = 15 };
    return ldexp(1, LEAST + (int)mgvi_rng_below(rng, MOST - LEAST + 1));
}

/* What the reader asked for, of classes, with a strength from the grid. */
static inline void draw_asked(mgvi_rng *rng, drawn *p, const char *asked)
{
    p->classes = draw_chance(rng, 0.75) || p->n < 30 ? 2 : 3 + mgvi_rng_below(rng, 8);
    snprintf(p->options, sizeof p->options, "task=classify %s C=%.6g%s%s", asked,
             draw_from_grid(rng), draw_chance(rng, 0.8) ? "" : " intercept=no",
             draw_chance(rng, 0.3)   ? ""
             : draw_chance(rng, 0.5) ? " scale=maxabs"
                                     : " scale=std");
}

/* `asked`: options in place of drawn ones, or NULL. */
static inline void draw_problem(mgvi_rng *rng, drawn *p, const char *asked)
{
    enum { KERNEL_ROWS = 6000 };
    const bool kernel = p->n <= KERNEL_ROWS && draw_chance(rng, 0.2);
    const double kind = mgvi_rng_uniform(rng);
    const char *kind_of_kernel = kernel ? DRAW(rng, kernels) : NULL;
    const bool inner = kernel && strcmp(kind_of_kernel, "poly") == 0; /* products of points */
    char more[96] = "";
    if (asked) {
        draw_asked(rng, p, asked);
        return;
    }
    p->classes = kind < 0.55 ? 2 : kind < 0.75 ? 3 + mgvi_rng_below(rng, 10) : 0;
    if (p->n < 3 * p->classes)
        p->classes = 2;
    const char *what = draw_loss(rng, p, kernel);
    if (kernel)
        snprintf(more, sizeof more, " kernel=%s", kind_of_kernel);
    if (has_strength(what))
        snprintf(more + strlen(more), sizeof more - strlen(more), " C=%.3g",
                 draw_log(rng, 1e-3, 1e3));
    snprintf(p->options, sizeof p->options, "task=%s %s%s%s%s", p->classes ? "classify" : "regress",
             what, more, draw_chance(rng, 0.8) ? "" : " intercept=no",
             draw_chance(rng, 0.5)     ? ""
             : inner && p->density < 1 ? " scale=maxabs" /* centring would make them dense */
                                       : " scale=std");
}

/* Problem `number` of the seed in words; the rest of the stream is its table's. */
static inline mgvi_rng draw_words(uint64_t seed, uint64_t number, const char *asked, drawn *p)
{
    static const char *const scalings[] = {"alike",      "apart by 100", "apart by 1e6",
                                           "off centre", "counts",       "bytes"};
    mgvi_rng rng = mgvi_rng_stream(seed, number);
    draw_shape(&rng, p);
    draw_problem(&rng, p, asked);
    snprintf(p->text, sizeof p->text, "%" PRId64 " x %" PRId64 ", density %.2g, %s, noise %.2g, %s",
             p->n, p->d, p->density, scalings[p->scaling], p->noise, p->options);
    return rng;
}

static inline mgv_data *draw(mgv_ctx *ctx, uint64_t seed, uint64_t number, const char *asked,
                             drawn *p, drawn_table *t)
{
    mgvi_rng rng = draw_words(seed, number, asked, p);
    return drawn_data(ctx, &rng, p, t);
}
#endif
