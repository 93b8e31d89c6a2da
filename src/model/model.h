/* model/model.h - the fitted model: weights in the user's units, classes, and where they came from.
 * Files (.mgm) are tensors (data/tensors.h): coef (outputs x d), intercept (outputs), classes
 * (text, one per line), and metadata: task, scale, p, formula, certificate and settings as JSON
 * text; names and label_name where the columns of the training data had names.
 *
 * With a kernel (docs/algorithms/kernel.md) there are support vectors in place of features: sv, or
 * sv_pointers, sv_indices and sv_values when they are sparse, dual_coef (outputs x vectors), norm
 * (outputs), centre and scale (d) where the fit scaled, and metadata: kernel, sigma2, degree,
 * offset. A precomputed kernel has coef (outputs x examples), and rows of kernel values for data.
 *
 * A quantity has one output, two classes one (positive: the second class) or two, more classes one
 * each; of several the largest wins. One against one (metadata multiclass: ovo) has an output for
 * every two classes, (0, 1), (0, 2), ..., (1, 2), ...: each votes for one of them, the second where
 * its score is positive, and of the classes with most votes the first wins. */
#ifndef MGVI_MODEL_MODEL_H
#define MGVI_MODEL_MODEL_H

#include "data/tensors.h"
#include "select/selection.h"
#include "solver/driver.h"

/* ---- about.c: where a model comes from ------------------------------------------------------- */

/* The JSON object that its file has under `model`. Shown by reports, never needed to predict. */
/* NULL, NaN and -1: the file does not say. */
typedef struct mgvi_about {
    const char *version, *formula, *loss, *penalty, *scale, *solver, *stop;
    const char *rule, *method; /* of a selection, and the path that won it */
    double lambda, mu, primal, dual, relative_gap, margin, margin_upper;
    int64_t iterations, runs, point; /* point: the chosen one, from 0 */
    bool verified;
} mgvi_about;

/* The text, from the arena. */
mgv_status mgvi_about_write(mgvi_arena *arena, const mgv_solver *solver, char **text);
/* What of it can be understood: a text that says nothing is no error. */
mgv_status mgvi_about_read(mgvi_arena *arena, const char *text, mgvi_about *out);

/* ---- path.c: the models of the path that it was chosen from ---------------------------------- */

/* Point k has weights index[t], value[t] for first[k] <= t < first[k + 1]; weight j of output o is
 * number o * features + j. All arrays but those three have `count` numbers, the intercepts one for
 * every output of each. No point has weights when they would be too many: `entries` is 0 then. */
typedef struct mgvi_model_path {
    int64_t count; /* 0: no path */
    int64_t outputs;
    int64_t entries;
    int64_t *first; /* count + 1 */
    int32_t *index;
    double *value, *intercept, *mu, *lambda, *iteration, *score, *score_se;
} mgvi_model_path;

mgv_status mgvi_model_path_copy(mgvi_arena *arena, const mgv_selection *selection,
                                mgvi_model_path *out);
enum { MGVI_PATH_TENSORS = 9 };
/* Fills `out` with the tensors of a path that is not empty. */
void mgvi_model_path_tensors(const mgvi_model_path *path, mgvi_tensor out[MGVI_PATH_TENSORS]);
/* An empty path when the file has none; MGV_E_INPUT when it is damaged. */
mgv_status mgvi_model_path_parse(mgvi_arena *arena, const char *file, const mgvi_tensors *tensors,
                                 int64_t outputs, int64_t features, mgvi_model_path *path);

/* ---- pair.c: the run's own (w, u) ------------------------------------------------------------ */

typedef struct mgvi_pair_part {
    double *x; /* NULL: none were kept */
    int64_t count;
} mgvi_pair_part;

typedef struct mgvi_model_pair {
    mgvi_pair_part w, u; /* the answer, in the units of the problem */
} mgvi_model_pair;

/* ---- the model ------------------------------------------------------------------------------- */

/* How scores become probabilities (probability.c). */
typedef enum mgvi_link { MGVI_LINK_NONE, MGVI_LINK_LOGISTIC, MGVI_LINK_SOFTMAX } mgvi_link;

struct mgv_model {
    mgv_ctx *ctx;
    mgvi_arena arena;
    int64_t features;
    int64_t outputs;
    double *coef;             /* outputs x features, or x support */
    double *intercept, *norm; /* one per output */
    double p;                 /* norm is |coef|_p: the fit's norm, 2 where it has none */
    bool pairwise;            /* one against one */
    mgvi_link link;
    bool classify, row_norm; /* row_norm: rows are divided by their length before scoring */
    int64_t classes;
    char **class_text;
    double *class_value; /* NaN for words */
    char *metadata;      /* a JSON object */
    mgvi_about about;    /* what it says */
    mgvi_column_names
        columns;  /* of the training data; models made before this was kept know no more
                             than their number */
    char *format; /* of the file they were in; "" where it is not known */
    mgvi_model_path path;
    mgvi_model_pair pair;
    mgvi_kernel kernel;
    int64_t support;        /* vectors; -1: none, coef are weights of the features */
    mgvi_matrix sv;         /* in the user's units: dense in C order, or CSR */
    double *centre, *scale; /* features; NULL: none */
};
static inline int64_t mgvi_model_width(const mgv_model *m)
{
    return m->support < 0 ? m->features : m->support;
}
/* Weights that are not 0, or support vectors. */
int64_t mgvi_model_nonzeros(const mgv_model *model);
/* largest.c: see mgv_model_largest(). */
mgv_status mgvi_model_largest(const mgv_model *model, int64_t output, int64_t count,
                              int64_t *features, int64_t *found);
/* The iteration a point of the path stands for; 0: it has a strength. A file may hold any number. */
static inline int64_t mgvi_model_point_iteration(const mgvi_model_path *path, int64_t index)
{
    const double at = path->iteration[index];
    return at >= 1 && at < 9e15 ? (int64_t)at : 0;
}
/* Nonzero weights at a point of the path; -1: not kept. */
static inline int64_t mgvi_model_point_nonzeros(const mgvi_model_path *path, int64_t index)
{
    return path->entries ? path->first[index + 1] - path->first[index] : -1;
}

mgv_status mgvi_model_new(mgv_ctx *ctx, const mgv_solver *solver, mgv_model **out);
/* Of one iterate of a run, without certificate and origin. */
mgv_status mgvi_model_of_iterate(mgv_ctx *ctx, const mgv_solver *solver, const double *w,
                                 mgv_model **out);
mgv_status mgvi_model_save(mgv_ctx *ctx, const mgv_model *model, const char *path);
mgv_status mgvi_model_load(mgv_ctx *ctx, const char *path, mgv_model **out);
/* From bytes in memory, as a fuzzer has them. */
mgv_status mgvi_model_parse(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                            mgv_model **out);
void mgvi_model_free(mgv_model *model);

/* columns.c: what the model remembers of its training data's columns, in its file: the arrays names
 * and label_name, and metadata. `joined` is for mgvi_release once they are written. */
mgv_status mgvi_model_take_columns(mgv_model *model, const mgv_data *data);
enum { MGVI_MODEL_COLUMN_TENSORS = 2 };
mgv_status mgvi_model_column_tensors(const mgv_model *model, mgvi_tensor *out, int *count,
                                     char **joined);
mgv_status mgvi_model_parse_columns(mgv_model *model, const char *path, const mgvi_tensors *file);
/* Rows to predict, read in the model's own columns (margrave.h). */
mgv_status mgvi_model_read(mgv_ctx *ctx, const mgv_model *model, const char *path,
                           const mgv_settings *settings, mgv_data **out);
/* Whether the columns of the data are the model's: their number, and their names where both have
 * some. Sparse data may have more or fewer. */
mgv_status mgvi_model_check_columns(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data);

/* pair.c: the answer of the run that the model was made of; its arrays in the file. */
mgv_status mgvi_model_keep_pair(mgv_model *model, const mgv_solver *solver);
enum { MGVI_MODEL_PAIR_TENSORS = 2 };
int mgvi_model_pair_tensors(const mgv_model *model, mgvi_tensor *out);
mgv_status mgvi_model_parse_pair(mgv_model *model, const char *path, const mgvi_tensors *file);

/* kernel_model.c: the support vectors of the fit; `coef` is outputs x examples. */
mgv_status mgvi_model_take_support(mgv_model *model, const mgv_problem *problem,
                                   const double *coef);
/* What a kernel model has in its file beside the others; room for MGVI_MODEL_KERNEL_TENSORS. */
enum { MGVI_MODEL_KERNEL_TENSORS = 7 };
int mgvi_model_kernel_tensors(const mgv_model *model, mgvi_tensor *out);
mgv_status mgvi_model_parse_kernel(mgv_model *model, const char *path, const mgvi_tensors *file);
/* scores without the intercepts */
mgv_status mgvi_model_kernel_scores(mgv_ctx *ctx, const mgv_model *model, const mgvi_matrix *X,
                                    double *scores);

/* scores: rows x outputs. */
mgv_status mgvi_model_scores(mgv_ctx *ctx, const mgv_model *model, mgv_data *data, double *scores);
/* Of `count` rows of dense X from row `first` on; a linear model, and data that was checked and is
 * as wide as the model. */
mgv_status mgvi_model_dense_scores(mgv_ctx *ctx, const mgv_model *model, const mgvi_matrix *X,
                                   int64_t first, int64_t count, double *scores);
/* The class a row's scores speak for; the first of equal ones. */
int64_t mgvi_model_decide(const mgv_model *model, const double *scores);
/* Probabilities of the classes, rows x classes, from rows x outputs scores (M1) to (M3) of
 * docs/files.md; MGV_E_INPUT where the loss of the fit is no likelihood. */
mgv_status mgvi_model_probabilities(mgv_ctx *ctx, const mgv_model *model, int64_t rows,
                                    const double *scores, double *probabilities);
mgvi_link mgvi_model_link(const mgv_problem *problem);
const char *mgvi_link_name(mgvi_link link);
mgvi_link mgvi_link_named(const char *name); /* MGVI_LINK_NONE: unknown */

/* The model's number of class `class` of the data; -1: the model has never seen it. */
int64_t mgvi_model_class_of(const mgv_model *model, const mgv_data *data, int64_t class);
/* counts[true class * classes + decided class]; rows of labels the model has never seen are left
 * out. */
mgv_status mgvi_model_confusion(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                                const double *scores, int64_t *counts);
mgv_status mgvi_model_evaluate(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                               const double *scores, mgv_metrics *out);
/* The same from the data alone; of many classes without an array of all scores where X is dense. */
mgv_status mgvi_model_measure(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                              mgv_metrics *out);
#endif
