/* assess/assess.h - what a way to make models is worth on rows it has not seen: the rows are dealt
 * out to parts, and each part is predicted by a model whose making, its preparation and the choice
 * of its strength included, has seen the other parts alone (nested cross-validation). The handle
 * behind mgv_assess. docs/algorithms/assess.md. */
#ifndef MGVI_ASSESS_ASSESS_H
#define MGVI_ASSESS_ASSESS_H

#include "model/model.h"
#include "select/selection.h"

typedef struct mgvi_assess_fold {
    int64_t repeat, part; /* from 0 */
    int64_t train_rows, test_rows;
    double score, baseline; /* accuracies, or root mean squared errors; the latter of the larger
                               class of the training rows, or of their mean */
    double r2;              /* NaN for classes */
    bool chosen;            /* the rest is of a selection */
    const char *method, *by;
    double lambda, mu; /* of the model */
    int64_t iteration; /* 0: it was not chosen by iterations */
    double inner_score, inner_se;
    int64_t nonzeros;
    mgvi_summary summary;
    double seconds;
} mgvi_assess_fold;

struct mgv_assess {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_data *data;        /* borrowed */
    mgv_data by_rows;      /* the same, its matrix stored by rows */
    mgv_settings settings; /* of the models */
    bool classify, chooses;
    int64_t parts, count, done;
    mgvi_assess_fold *fold;
    int64_t dealt;     /* the repeat that the split is of; -1: none yet */
    mgvi_arena dealer; /* the split's */
    mgvi_split split;
    int64_t *row, *class_rows; /* work space: a list of rows; every class's number */
    double deadline;           /* of the clock: of all of it */
    double passes, seconds;
};

/* Checks that the problem can be bound; deals nothing out yet. */
mgv_status mgvi_assess_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                           mgv_assess **out);
/* Makes and judges the next model. *more is false when there is none or no time for one: a model
 * that the limit has cut is left out. After a failure the folds that are done stay. */
mgv_status mgvi_assess_next(mgv_assess *assess, bool *more);
void mgvi_assess_free(mgv_assess *assess); /* NULL is accepted */

/* The mean of a number of every fold that is done, and its standard error, the standard deviation
 * over the root of the parts: repeats look at the same rows again. NaN: not known. */
typedef double (*mgvi_assess_number)(const mgvi_assess_fold *fold);
void mgvi_assess_mean(const mgv_assess *assess, mgvi_assess_number of, double *mean, double *se);
double mgvi_assess_score(const mgvi_assess_fold *fold);
double mgvi_assess_baseline(const mgvi_assess_fold *fold);
double mgvi_assess_r2(const mgvi_assess_fold *fold);
/* Whether its model is not what was asked for. */
bool mgvi_assess_is_short(const mgvi_assess_fold *fold);
#endif
