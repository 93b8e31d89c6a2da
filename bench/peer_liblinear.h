/* peer_liblinear.h - LIBLINEAR as a peer in the same process: its data layout, and its training at
 * the largest tolerance (found with hindsight) that reaches a given objective. Where it was not
 * found (BENCH_LIBLINEAR is not defined) the suites run without it: peer_there is false. */
#ifndef BENCH_PEER_LIBLINEAR_H
#define BENCH_PEER_LIBLINEAR_H

#include "base/clock.h"
#include "data/data.h"

#include <math.h>
#include <stdlib.h>

#ifdef BENCH_LIBLINEAR
#include <linear.h>
enum { peer_there = true };
#else /* names enough for the suites to be built */
enum { peer_there = false, liblinear_version = 0 };
enum {
    L2R_LR,
    L2R_L2LOSS_SVC_DUAL,
    L2R_L2LOSS_SVC,
    L2R_L1LOSS_SVC_DUAL,
    L1R_L2LOSS_SVC,
    L1R_LR,
    L2R_LR_DUAL
};
struct feature_node {
    int index;
    double value;
};
struct problem {
    int l, n;
    double *y;
    struct feature_node **x;
    double bias;
};
struct parameter {
    int solver_type;
    double eps, C, p;
};
struct model {
    int *label;
    double *w;
};
static inline struct model *train(const struct problem *lp, const struct parameter *param)
{
    (void)lp;
    (void)param;
    return NULL;
}
static inline void free_and_destroy_model(struct model **m) { (void)m; }
static inline void set_print_string_function(void (*print)(const char *)) { (void)print; }
#endif

static inline void peer_quiet(const char *text) { (void)text; }

static inline double peer_entry(const mgvi_matrix *X, int64_t i, int64_t j)
{
    return mgvi_matrix_value(X, i * X->row_stride + j * X->col_stride);
}

/* 1-based nodes ended by index -1. Freed by peer_free(). */
static inline struct problem peer_problem(const mgv_data *data)
{
    const mgvi_matrix *X = &data->X;
    struct problem lp = {.l = (int)X->rows, .n = (int)X->cols, .bias = -1};
    struct feature_node *node = malloc(((size_t)X->nnz + (size_t)X->rows) * sizeof *node);
    lp.y = malloc((size_t)X->rows * sizeof *lp.y);
    lp.x = malloc((size_t)X->rows * sizeof *lp.x);
    for (int64_t i = 0; i < X->rows; i++) {
        lp.y[i] = data->labels[i] == data->class_value[1] ? 1 : -1;
        lp.x[i] = node;
        if (X->layout == MGV_CSR) {
            for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++)
                *node++ = (struct feature_node){X->idx[t] + 1, mgvi_matrix_value(X, t)};
        } else {
            for (int64_t j = 0; j < X->cols; j++)
                if (peer_entry(X, i, j) != 0)
                    *node++ = (struct feature_node){(int)j + 1, peer_entry(X, i, j)};
        }
        *node++ = (struct feature_node){-1, 0};
    }
    return lp;
}

static inline void peer_free(struct problem *lp)
{
    free(lp->x[0]);
    free(lp->x);
    free(lp->y);
}

/* The objective to be compared, in float64 from w; `sign` is -1 where LIBLINEAR's first label is
 * the negative class. */
typedef double (*peer_objective)(const struct problem *lp, const double *w, double sign,
                                 const void *user);

static inline double peer_score(const struct feature_node *row, const double *w)
{
    double z = 0;
    for (; row->index > 0; row++)
        z += w[row->index - 1] * row->value;
    return z;
}

/* lambda/2 |w|^2 + the mean hinge; user: lambda. */
static inline double peer_hinge(const struct problem *lp, const double *w, double sign,
                                const void *user)
{
    const double lambda = *(const double *)user;
    double sum = 0, square = 0;
    for (int i = 0; i < lp->l; i++)
        sum += fmax(0, 1 - lp->y[i] * sign * peer_score(lp->x[i], w));
    for (int j = 0; j < lp->n; j++)
        square += w[j] * w[j];
    return lambda / 2 * square + sum / lp->l;
}

typedef struct peer_run {
    double seconds, objective, eps;
} peer_run;

/* The fastest of `repeats` at the first tolerance eps = first, first ratio, ... whose objective is
 * at most `goal`; after `patience` seconds at one tolerance the last one is returned as it is.
 * NANs without LIBLINEAR. */
static inline peer_run peer_train(const struct problem *lp, struct parameter param, double first,
                                  double ratio, double goal, int repeats, double patience,
                                  peer_objective objective, const void *user)
{
    peer_run best = {.seconds = NAN, .objective = NAN};
    for (param.eps = first; peer_there && param.eps > 1e-9; param.eps *= ratio) {
        best = (peer_run){.seconds = INFINITY, .objective = NAN, .eps = param.eps};
        for (int r = 0; r < repeats; r++) {
            const double start = mgvi_clock_seconds();
            struct model *m = train(lp, &param);
            best.seconds = fmin(best.seconds, mgvi_clock_seconds() - start);
            best.objective = objective(lp, m->w, m->label[0] > 0 ? 1 : -1, user);
            free_and_destroy_model(&m);
            if (best.objective > goal || best.seconds > patience)
                break;
        }
        if (best.objective <= goal || best.seconds > patience)
            break;
    }
    return best;
}
#endif
