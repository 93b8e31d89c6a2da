/* items_margin.h - what the items about margins on digits share: rows of their own, and numbers from
 * a seed. */
#ifndef MGV_CLI_ITEMS_MARGIN_H
#define MGV_CLI_ITEMS_MARGIN_H

#include "study.h"

/* Rows that an item owns, with the data that borrows them. */
typedef struct margin_rows {
    double *x, *y;
    int64_t count, cols;
    mgv_data *data; /* NULL until margin_bind() */
} margin_rows;

/* Room for rows of 0; false: no memory, and it was complained of. */
bool margin_new_rows(study *s, margin_rows *rows, int64_t count, int64_t cols);
bool margin_bind(study *s, margin_rows *rows);
void margin_free_rows(study *s, margin_rows *rows);
/* At most `most` of the rows order[0], order[1], ... of `from`; order NULL: the first. */
bool margin_copy_rows(study *s, const mgv_data *from, const int64_t *order, int64_t most,
                      margin_rows *out);
/* Rows of a file below MARGRAVE_DATA: study_read(), and the first `most` copied. */
bool margin_read_rows(study *s, const char *file, const char *options, int64_t most,
                      margin_rows *out);

/* SplitMix64. */
typedef struct margin_draws {
    uint64_t state;
} margin_draws;
uint64_t margin_draw(margin_draws *d);
double margin_draw_uniform(margin_draws *d); /* in [0, 1) */
/* A sum of twelve uniforms less 6: variance 1, and sums are the same bits everywhere. */
double margin_draw_normal(margin_draws *d);
/* 0, ..., count - 1 in a random order; NULL: no memory. The caller frees it. */
int64_t *margin_draw_order(study *s, margin_draws *d, int64_t count);

/* k(test row, training row) of a Gaussian kernel: errors of iterates cost a product each. */
typedef struct margin_kernel {
    float *k;
    double *sign; /* 1 or -1 of every test row; 1 is the larger label */
    int64_t tests, rows;
} margin_kernel;
bool margin_new_kernel(study *s, const margin_rows *train, const margin_rows *test, double sigma2,
                       margin_kernel *out);
void margin_free_kernel(margin_kernel *kernel);
/* Share of the test rows that these weights of the training rows get wrong. */
double margin_kernel_error(const margin_kernel *kernel, const double *weights);

/* What a run's iterates add to: errors on test rows, by `kernel` where it is not NULL, and margins.
 * Either curve may be NULL. */
typedef struct margin_curves {
    mgv_data *test;
    const margin_kernel *kernel;
    study_curve *error, *margin;
    double gamma; /* above 0: `margin` has gamma less the margin */
} margin_curves;
void margin_measure(study *s, void *user, const mgv_iterate *at);
#endif
