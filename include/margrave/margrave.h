/* margrave.h - the stable public interface: certified large-margin and low-complexity models.
 *
 * Every function that can fail returns mgv_status and leaves a sentence in the context, read with
 * mgv_ctx_error(). On failure outputs are untouched or NULL. The library never prints, exits or
 * catches signals. Handles are opaque; structs the caller allocates begin with `size`, which the
 * caller sets to sizeof the struct, so that fields added later leave old callers working.
 * A context and the handles made from it are used by one thread at a time; different contexts are
 * independent. mgv_ctx_interrupt() alone may be called from anywhere, signal handlers included.
 * A thread that calls the library needs 256 KiB of stack; the library's own have the system's
 * default. */
#ifndef MARGRAVE_H
#define MARGRAVE_H

#include <stddef.h>
#include <stdint.h>

#define MGV_VERSION_MAJOR 0
#define MGV_VERSION_MINOR 1
#define MGV_VERSION_PATCH 0

#if defined(_WIN32)
#define MGV_API
#else
#define MGV_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status --------------------------------------------------------------------------------- */
/* Values are fixed for ever, new ones go last. */
typedef enum mgv_status {
    MGV_OK = 0,
    MGV_E_ARG = 1,         /* an argument, option or combination of options is wrong */
    MGV_E_INPUT = 2,       /* the data or a file's content is wrong */
    MGV_E_IO = 3,          /* a file cannot be opened, read or written */
    MGV_E_MEMORY = 4,      /* the allocator said no */
    MGV_E_UNSUPPORTED = 5, /* the sentence names what is lacking */
    MGV_E_NUMERIC = 6,     /* a computation left the finite numbers */
    MGV_E_INTERNAL = 7,    /* our mistake: please report it */
    MGV_E_LIMIT = 8        /* time_limit or an interrupt came before there was anything to return */
} mgv_status;

/* "0.1.0"; static. */
MGV_API const char *mgv_version(void);
/* "ok", "bad argument", ...; static, never NULL. */
MGV_API const char *mgv_status_name(mgv_status status);

/* ---- Context -------------------------------------------------------------------------------- */
/* Owns the thread pool, the allocator hooks, the last error sentence and the event callback. */
typedef struct mgv_ctx mgv_ctx;

/* `alloc` returns memory aligned to `align` (a power of two, at least sizeof(void *)) or NULL;
 * `release` accepts NULL. Both may be called from any thread the library runs. */
typedef struct mgv_allocator {
    size_t size;
    void *user;
    void *(*alloc)(void *user, size_t bytes, size_t align);
    void (*release)(void *user, void *memory);
} mgv_allocator;

/* Creates a context with all cores, the best instruction set and the caches of this machine
 * (MGV_SIMD=scalar|avx2|avx512|neon and MGV_CACHE=32K,512K,4M in the environment override them;
 * MGV_E_ARG where they say nothing of the kind). `allocator` may be NULL.
 * On failure *out is NULL and there is no sentence. */
MGV_API mgv_status mgv_ctx_new(const mgv_allocator *allocator, mgv_ctx **out);
/* Frees the context; everything made from it must be gone. NULL is accepted. */
MGV_API void mgv_ctx_free(mgv_ctx *ctx);
/* The sentence of the last failure, "" when there was none. Valid until the next call. */
MGV_API const char *mgv_ctx_error(const mgv_ctx *ctx);
/* 0 means all cores. Results do not depend on the number. MGV_E_ARG below 0 or above 1024. */
MGV_API mgv_status mgv_ctx_set_threads(mgv_ctx *ctx, int threads);
MGV_API int mgv_ctx_threads(const mgv_ctx *ctx);
/* "scalar", "avx2", "avx512" or "neon". */
MGV_API const char *mgv_ctx_simd(const mgv_ctx *ctx);
/* "32K,512K,4M": the caches work is cut for, in classes (powers of two): data in the first, the
 * second, a processor's share of the last. Results are the same bits within a class. */
MGV_API const char *mgv_ctx_caches(const mgv_ctx *ctx);
/* Only "cpu" today; MGV_E_UNSUPPORTED names what is missing. */
MGV_API mgv_status mgv_ctx_set_backend(mgv_ctx *ctx, const char *name);
/* Asks the call at work to end soon: a run, selection, path, completion or deblurring with the best
 * it has, within its present step; reading, setting up a problem and what has nothing to show yet
 * with MGV_E_LIMIT. `time_limit` does the same. Async-signal-safe. The request is cleared when such
 * a call starts. */
MGV_API void mgv_ctx_interrupt(mgv_ctx *ctx);

/* ---- Events --------------------------------------------------------------------------------- */
typedef enum mgv_event_kind {
    MGV_EVENT_LOG = 0,      /* `text` is a sentence */
    MGV_EVENT_PROGRESS = 1, /* an iteration ended; the certificate fields are the last known. Or,
                               with `text`, what a selection or many classes at once are at */
    MGV_EVENT_TRACE = 2     /* a certificate was taken, all fields are fresh; in a run that stops
                               early (select) every iteration, without one */
} mgv_event_kind;

typedef enum mgv_level { MGV_WARNING = 0, MGV_INFO = 1, MGV_DEBUG = 2 } mgv_level;

/* NaN where a number is not known (yet). */
typedef struct mgv_event {
    size_t size;
    mgv_event_kind kind;
    mgv_level level;
    const char *text; /* of MGV_EVENT_LOG and some of MGV_EVENT_PROGRESS, else NULL; valid during
                         the call. MGV_EVENT_TRACE of a completion: "path" or "sweep" */
    int64_t iteration;
    double passes, seconds;
    double primal, dual, gap, relative_gap;
    double margin, margin_upper;
    double train_score, validation_score;
    int64_t nonzeros;
    double bytes; /* of the matrix read so far: its entries, with the indices of a sparse one */
    double residual, psnr; /* deblurring: |A w - y|; dB beside the truth */
    double strength; /* a point of a selection's path by strength, which `iteration` counts: its mu,
                        or its lambda */
    double validation_se; /* standard error of validation_score */
    double distance;      /* a completion's iterate from the setting `truth`: |X - truth|_F */
    double smoothing;     /* alpha of the last step of a method that smooths the loss (smsvm) */
    const double *folds;  /* a point of a selection's path: the score of every part held out, NaN
                             where it has none; valid during the call. NULL: there are none */
    int64_t fold_count;
} mgv_event;

/* Return nonzero to end the run after this step with the best iterate. Called on the thread that
 * called the library. */
typedef int (*mgv_event_fn)(void *user, const mgv_event *event);
/* NULL switches events off. Results do not depend on it. */
MGV_API void mgv_ctx_on_event(mgv_ctx *ctx, mgv_event_fn fn, void *user);

/* ---- Settings ------------------------------------------------------------------------------- */
/* Everything that can be chosen, by name: the problem, the solver, stopping, reading. The table of
 * names, types, defaults and bounds is read with mgv_setting_at(). */
typedef struct mgv_settings mgv_settings;
MGV_API mgv_status mgv_settings_new(mgv_ctx *ctx, mgv_settings **out);
MGV_API void mgv_settings_free(mgv_ctx *ctx, mgv_settings *settings);
/* Dashes in `name` count as underscores; a setting of a solver's own may be spelled SOLVER.NAME,
 * `primal_dual.sigma`. A text has at most 1,023 bytes and stays in the context. MGV_E_ARG names the setting, the value and what is
 * allowed; the settings are then unchanged. */
MGV_API mgv_status mgv_settings_set(mgv_ctx *ctx, mgv_settings *settings, const char *name,
                                    const char *value);
/* Writes the value as text, cut to `capacity` bytes with its terminator. */
MGV_API mgv_status mgv_settings_get(mgv_ctx *ctx, const mgv_settings *settings, const char *name,
                                    char *buffer, size_t capacity);

typedef struct mgv_setting_info {
    size_t size;
    const char *name;         /* with underscores */
    const char *group;        /* "problem", "solver", "image", "select", "stop", "path",
                                 "complete", "data", "generate", "run" */
    const char *type;         /* "real", "int", "bool", "text" or "choice" */
    const char *default_text; /* "" when unset */
    const char *allowed;      /* bounds or choices as text */
    const char *help;
} mgv_setting_info;
MGV_API size_t mgv_setting_count(void);
/* MGV_E_ARG when `index` is too large. */
MGV_API mgv_status mgv_setting_at(size_t index, mgv_setting_info *out);

/* ---- Output files --------------------------------------------------------------------------- */
/* A file of the caller's that appears whole or not at all, as all of the library's do: written
 * beside its place under a name nobody can guess, and renamed when it is closed, on the disk. "-"
 * is standard output; devices and pipes are written in place. */
typedef struct mgv_output mgv_output;
MGV_API mgv_status mgv_output_open(mgv_ctx *ctx, const char *path, mgv_output **out);
/* Handed to the system before it returns. The first failure stays, and is told by every call. */
MGV_API mgv_status mgv_output_write(mgv_ctx *ctx, mgv_output *output, const void *bytes,
                                    size_t size);
/* Frees it; `keep` 0: nothing appears. */
MGV_API mgv_status mgv_output_close(mgv_ctx *ctx, mgv_output *output, int keep);

/* ---- Registry ------------------------------------------------------------------------------- */
typedef struct mgv_entry {
    size_t size;
    const char *kind; /* "loss", "penalty", "solver", "stop", "operator", "reader", "writer",
                         "generator", ... */
    const char *name;
    const char *summary;
} mgv_entry;
MGV_API size_t mgv_registry_count(void);
MGV_API mgv_status mgv_registry_at(size_t index, mgv_entry *out);

/* ---- Data ----------------------------------------------------------------------------------- */
/* A matrix with optional labels, weights and names; rows are examples. */
typedef struct mgv_data mgv_data;

typedef enum mgv_dtype { MGV_F32 = 0, MGV_F64 = 1 } mgv_dtype;
typedef enum mgv_layout { MGV_DENSE = 0, MGV_CSR = 1, MGV_CSC = 2 } mgv_layout;

/* Reads the settings `format` (auto), `base` (auto), `features` (0: from the file), `precision`,
 * `header`, `label_column`, `labels`, `names` and `separator`; `classes` leaves out the rows of
 * other classes, `flip_labels` gives some rows the label of another, by `seed`. "-" is standard
 * input.
 * MGV_E_LIMIT: `time_limit` was over, or an interrupt came, before the file was read. */
MGV_API mgv_status mgv_data_read(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                                 mgv_data **out);
/* Makes the set `name` (kind "generator" of the registry; docs/data.md has the formulas) under the
 * settings of the group "generate", those that are unset as the set has them, `seed` and, of sets
 * with classes, `flip_labels`. The same bits on every machine. `test`: rows of the same kind, with
 * labels that are not flipped; `truth`: the weights behind the labels, as a column, or the whole
 * matrix; both may be NULL. MGV_E_UNSUPPORTED: the set has no truth. */
MGV_API mgv_status mgv_data_generate(mgv_ctx *ctx, const char *name, const mgv_settings *settings,
                                     mgv_data **data, mgv_data **test, mgv_data **truth);
/* Writes in the format the name ends in, or `format`; to a temporary name, then renamed. */
MGV_API mgv_status mgv_data_write(mgv_ctx *ctx, const mgv_data *data, const char *path,
                                  const mgv_settings *settings);
/* Borrow the caller's arrays, which must outlive the data. Strides count elements. */
MGV_API mgv_status mgv_data_from_dense(mgv_ctx *ctx, mgv_dtype dtype, const void *values,
                                       int64_t rows, int64_t cols, int64_t row_stride,
                                       int64_t col_stride, mgv_data **out);
/* `layout` MGV_CSR or MGV_CSC; `pointers` has rows+1 (cols+1) entries, indices are 0-based and
 * increase within a row (column). Indices are checked: MGV_E_INPUT. */
MGV_API mgv_status mgv_data_from_sparse(mgv_ctx *ctx, mgv_layout layout, mgv_dtype dtype,
                                        const void *values, const int64_t *pointers,
                                        const int32_t *indices, int64_t rows, int64_t cols,
                                        mgv_data **out);
/* Copies `rows` numbers; NULL removes them. Labels must be finite, weights finite and >= 0. */
MGV_API mgv_status mgv_data_set_labels(mgv_ctx *ctx, mgv_data *data, const double *labels);
MGV_API mgv_status mgv_data_set_weights(mgv_ctx *ctx, mgv_data *data, const double *weights);
/* Copies `rows` numbers each; NULL: the target less or plus `epsilon`. The interval of each row for the
 * losses interval and epsilon_insensitive; ends may be infinite. */
MGV_API mgv_status mgv_data_set_intervals(mgv_ctx *ctx, mgv_data *data, const double *lower,
                                          const double *upper);
/* Copies `cols` numbers; NULL removes them. The group of each column for the penalty `group`, from
 * 0 on, -1: none; and factors of a penalty that works column by column, finite and >= 0. */
MGV_API mgv_status mgv_data_set_groups(mgv_ctx *ctx, mgv_data *data, const int64_t *groups);
MGV_API mgv_status mgv_data_set_penalty_weights(mgv_ctx *ctx, mgv_data *data,
                                                const double *weights);
/* Copies `cols` names of the columns, any bytes but zero; NULL removes them. A model keeps the
 * names of the data it is made from, and refuses data whose columns have others. */
MGV_API mgv_status mgv_data_set_names(mgv_ctx *ctx, mgv_data *data, const char *const *names);
/* The name of column `index` from 0; NULL: none, or out of range. Lives as long as `data`. */
MGV_API const char *mgv_data_name(const mgv_data *data, int64_t index);
/* Row `index` from 0 as cols numbers, and its label (NaN: none); either may be NULL. MGV_E_ARG when it
 * is out of range, MGV_E_UNSUPPORTED of a matrix that is stored by columns (CSC). */
MGV_API mgv_status mgv_data_row(mgv_ctx *ctx, const mgv_data *data, int64_t index, double *values,
                                double *label);
MGV_API void mgv_data_free(mgv_ctx *ctx, mgv_data *data);

typedef struct mgv_data_info {
    size_t size;
    int64_t rows, cols, nonzeros; /* stored entries; rows * cols when dense */
    mgv_layout layout;
    mgv_dtype dtype;
    int has_labels;
    int64_t classes; /* distinct labels; 0 without labels or when there are too many for classes */
    int64_t bytes;   /* of the matrix and labels in memory or mapped */
    const char *format; /* the reader's name, "memory" for borrowed arrays */
    double load_seconds;
    int first_index; /* where libsvm text counts from, 0 or 1; -1: another format */
} mgv_data_info;
MGV_API mgv_status mgv_data_describe(const mgv_data *data, mgv_data_info *out);
/* The spelling of class `index` in sorted order; NULL when out of range. Lives as long as `data`.
 */
MGV_API const char *mgv_data_class(const mgv_data *data, int64_t index);
/* The data doctor: a JSON object with the `data` block and `findings`, to be freed with
 * mgv_string_free(). `path` is only quoted and may be NULL. */
MGV_API mgv_status mgv_data_check(mgv_ctx *ctx, mgv_data *data, const char *path,
                                  const mgv_settings *settings, char **json);
/* The same as lines for people, each "LEVEL  sentence". */
MGV_API mgv_status mgv_data_check_text(mgv_ctx *ctx, mgv_data *data, const char *path,
                                       const mgv_settings *settings, char **text);
MGV_API void mgv_string_free(mgv_ctx *ctx, char *text);

/* ---- Operators ------------------------------------------------------------------------------ */
/* A linear map the caller computes: y = A x and g = A'u, cols and rows numbers. The two must be
 * each other's transposes: mgv_operator_check() tries. Called on the thread that called the
 * library. A return value other than 0 ends the run after this step, like mgv_ctx_interrupt(). */
typedef struct mgv_operator {
    size_t size;
    int64_t rows, cols;
    void *user;
    int (*mul)(void *user, const double *x, double *y);
    int (*mul_t)(void *user, const double *u, double *g);
} mgv_operator;
/* MGV_E_INPUT with the two numbers when <A x, u> and <x, A'u> differ for random x and u. */
MGV_API mgv_status mgv_operator_check(mgv_ctx *ctx, const mgv_operator *op);

/* ---- Problem -------------------------------------------------------------------------------- */
/* min R(w) + F(w) + sum_i s_i G_i((A w)_i), bound from data and settings. Borrows the data. The
 * files that `sample_weight`, `penalty_weight`, `groups`, `lower` and `upper` name are read into the data, in place
 * of what mgv_data_set_weights() and its kin gave it, until a call without these settings; so it is
 * with mgv_selection_run() and mgv_path_new(). Every call that works by settings obeys `backend`
 * and, unless it is 0, `threads`, which then is the context's. */
typedef struct mgv_problem mgv_problem;
MGV_API mgv_status mgv_problem_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                   mgv_problem **out);
/* A w beside `target` (rows numbers, copied) for a linear map of the caller's; loss `equal` unless
 * the settings name another, no intercept. `groups` (cols numbers, for the penalty `group`) may be
 * NULL. Borrows op->user. */
MGV_API mgv_status mgv_problem_from_operator(mgv_ctx *ctx, const mgv_operator *op,
                                             const double *target, const int64_t *groups,
                                             const mgv_settings *settings, mgv_problem **out);
/* A smooth convex F of the caller's: its value and its gradient at w, one number per column of the
 * problem (an intercept is the last), and a number that |grad F(w) - grad F(v)| <= lipschitz |w -
 * v| holds for. Called on the thread that called the library. A return value other than 0 ends the
 * run after this step, like mgv_ctx_interrupt(). */
typedef struct mgv_smooth {
    size_t size;
    void *user;
    double lipschitz;
    int (*value)(void *user, const double *w, double *value);
    int (*grad)(void *user, const double *w, double *gradient);
} mgv_smooth;
/* Adds F to a problem that has no solver yet; NULL takes it away. Borrows smooth->user. Solvers
 * that have no use for a gradient refuse the problem: `primal_dual` takes it. */
MGV_API mgv_status mgv_problem_set_smooth(mgv_ctx *ctx, mgv_problem *problem,
                                          const mgv_smooth *smooth);
MGV_API void mgv_problem_free(mgv_ctx *ctx, mgv_problem *problem);
/* The objective with its numbers, e.g. "min 3.071e-05/2 |w|^2 + mean hinge(y (x.w + b))". */
MGV_API const char *mgv_problem_formula(const mgv_problem *problem);
/* Whether the labels are classes or a quantity, and why, e.g. "classification into 11 classes
 * (whole numbers, each 182 times on average; else --task regress)"; "" of a problem without
 * labels. Lives as long as the problem. */
MGV_API const char *mgv_problem_task(const mgv_problem *problem);

/* ---- Solving -------------------------------------------------------------------------------- */
/* Owns its iterates and work space; borrows the problem, which must outlive it. */
typedef struct mgv_solver mgv_solver;

/* Why a run ended; never an error. Values are fixed for ever, new ones go last. */
typedef enum mgv_stop {
    MGV_STOP_NONE = 0,      /* not run yet */
    MGV_STOP_CERTIFIED = 1, /* the certificate asked for holds */
    MGV_STOP_DISCREPANCY = 2,
    MGV_STOP_MAX_ITER = 3,
    MGV_STOP_TIME = 4,
    MGV_STOP_USER = 5,
    MGV_STOP_DIVERGED = 6,   /* a number was not finite; the best pair before that is the answer */
    MGV_STOP_INFEASIBLE = 7, /* proven: no weights satisfy the hard constraints */
    MGV_STOP_MAX_PASSES = 8,
    MGV_STOP_STALLED = 9,   /* further steps change nothing, short of the certificate */
    MGV_STOP_SELECTED = 10, /* this iteration was chosen on held-out rows: early stopping */
    MGV_STOP_APRIORI = 11,  /* as many iterations as the noise level prescribes */
    MGV_STOP_ROUNDING = 12, /* as good as numbers go: rounding alone is larger than the tolerance */
    MGV_STOP_SCHEDULE = 13  /* the method's own schedule has ended where a setting told it to */
} mgv_stop;
/* "certified", "max_iter", ...; static. */
MGV_API const char *mgv_stop_name(mgv_stop stop);

/* Recomputed in float64 from the weights, as they are saved, and the dual variables alone, and
 * rounded outwards: primal is not below the model's objective, dual not above the optimum, margin
 * not above the model's, margin_upper not below any. NaN: does not apply. */
typedef struct mgv_certificate {
    size_t size;
    double primal, dual, gap, relative_gap;
    double margin, margin_upper; /* attained lower and proven upper bound of the hard margin */
    double proof_norm;           /* |A'q| of the convex weights q that prove inseparability */
    int separable;               /* 1 yes, 0 proven that no weights meet the constraints, -1 open */
    int verified;                /* 1 when the judge's checks passed */
    double rounding; /* how much of the gap (of a margin: of its interval) is owed to rounding */
} mgv_certificate;

typedef struct mgv_run_info {
    size_t size;
    const char *solver;
    mgv_stop stop;
    int64_t iterations;
    double passes, seconds;
    int64_t nonzeros;
    double norm;  /* |w|_p of the weights in the user's units, p = 2 where the fit has no norm;
                   * NaN: many classes, each has its own */
    int64_t runs; /* 1, or one for each of more than two classes */
    int64_t impossible_class; /* MGV_STOP_INFEASIBLE of many classes: which; -1 else */
    int64_t impossible_rival; /* the class it was held against one to one; -1: the rest */
    double
        distance; /* at most, |w - w*|_p from the optimal weights, of those that are penalised, in
                      * the problem's units (columns scaled); NaN: nothing is known, or many runs */
    double p;     /* of this distance: the margin's norm, else 2 */
    int unsaved;  /* 1: the last checkpoint could not be written; a warning has told why */
    double normal_residual; /* |A'(A w - y)| in units of |A| |A w - y| where a solver of equalities
                             * has ended without its certificate: near 0 the weights fit in the
                             * least-squares sense. NaN: not known */
} mgv_run_info;

/* The solver named by the setting `solver`, in the state of the checkpoint that `resume` names, if
 * it does. MGV_E_UNSUPPORTED names what the problem lacks. */
MGV_API mgv_status mgv_solver_new(mgv_ctx *ctx, const mgv_problem *problem,
                                  const mgv_settings *settings, mgv_solver **out);
/* Runs until a stopping rule holds; may be called again to go on with larger budgets. */
MGV_API mgv_status mgv_solver_run(mgv_ctx *ctx, mgv_solver *solver);
MGV_API mgv_status mgv_solver_describe(const mgv_solver *solver, mgv_run_info *run,
                                       mgv_certificate *certificate);
/* Continues to the same bits: the file holds the whole state of the run. */
MGV_API mgv_status mgv_solver_checkpoint(mgv_ctx *ctx, const mgv_solver *solver, const char *path);
MGV_API mgv_status mgv_solver_resume(mgv_ctx *ctx, mgv_solver *solver, const char *path);
/* The dual variables of the certificate, one per row; the proof's convex weights when the stop is
 * MGV_STOP_INFEASIBLE. More than two classes: only the proof, one per row, else none (*count is 0),
 * but for problems of all classes at once (losses softmax and crammer_singer, and `multiclass`
 * joint), which have one per row and class, those of a row beside each other. None either where the
 * solver has no dual variables. Lives as long as the solver. */
MGV_API mgv_status mgv_solver_dual(const mgv_solver *solver, const double **values, int64_t *count);
/* The weights of the answer, one per column of the problem (an intercept is the last), in the
 * problem's units: columns scaled and, where there is an intercept, centred. Of all classes at once
 * one per column and class, the classes of a column beside each other. More than two classes by
 * runs of two (mgv_run_info.runs): those of every run one after the other, in the user's units and
 * without intercepts, which mgv_model_describe() has. With a kernel the columns are examples. Lives
 * as long as the solver. */
MGV_API mgv_status mgv_solver_weights(const mgv_solver *solver, const double **values,
                                      int64_t *count);
MGV_API void mgv_solver_free(mgv_ctx *ctx, mgv_solver *solver);

/* ---- Selection ------------------------------------------------------------------------------ */
/* A path of models, scored on rows they have not seen (setting `select`), and the chosen one solved
 * to its certificate. Owns its problem and its solver; borrows the data. */
typedef struct mgv_selection mgv_selection;
/* Fits the path, the folds and the chosen model. An interrupt or `time_limit` ends it with the best
 * so far; MGV_E_LIMIT: before there was any. */
MGV_API mgv_status mgv_selection_run(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                     mgv_selection **out);
MGV_API void mgv_selection_free(mgv_ctx *ctx, mgv_selection *selection);
/* Of the chosen model; they live as long as the selection and must not be freed. mgv_model_new()
 * makes a model that carries the path along. */
MGV_API const mgv_problem *mgv_selection_problem(const mgv_selection *selection);
MGV_API mgv_solver *mgv_selection_solver(mgv_selection *selection);

typedef struct mgv_selection_info {
    size_t size;
    const char *rule;       /* the setting, e.g. "cv:5" */
    const char *method;     /* e.g. "lasso path" */
    const char *by;         /* "lambda", "mu" or "iteration" */
    int64_t points, point;  /* of the path, and the chosen one from 0 */
    int64_t compared;       /* paths; see mgv_selection_compared() */
    int classify;           /* scores are accuracies; else mean squared errors */
    double score, score_se; /* held out, of the chosen point; NaN: none */
    double seconds;         /* everything, the final fit included */
    int debiased;           /* setting debias: 1 used, 0 no better, -1 not asked or not possible */
    double debiased_score, plain_score; /* with it and without it; NaN: not asked */
    int64_t stable; /* setting stable: how many columns enough folds have; -1: not asked */
} mgv_selection_info;
MGV_API mgv_status mgv_selection_describe(const mgv_selection *selection, mgv_selection_info *out);

typedef struct mgv_path_point {
    size_t size;
    double lambda, mu;      /* NaN where they do not apply */
    int64_t iteration;      /* 0 unless the path is by iteration */
    double score, score_se; /* held out */
    double gap;             /* worst fold's, in units of |y|^2/2; NaN: not known */
    int64_t nonzeros;
} mgv_path_point;
/* Point `index` of the chosen path. MGV_E_ARG when it is out of range. */
MGV_API mgv_status mgv_selection_point(const mgv_selection *selection, int64_t index,
                                       mgv_path_point *out);
/* The best point of the `index`-th path that was compared; *method is its name. */
MGV_API mgv_status mgv_selection_compared(const mgv_selection *selection, int64_t index,
                                          const char **method, mgv_path_point *out,
                                          double *seconds);

/* A column with a nonzero weight in the final model. */
typedef struct mgv_feature {
    size_t size;
    int64_t column;   /* from 0 */
    const char *name; /* NULL: none known; lives as long as the data */
    double coef;
    int64_t folds; /* in how many folds the chosen point has it; -1: not known */
} mgv_feature;
/* The `index`-th by size of its weight. MGV_E_ARG when there are fewer. */
MGV_API mgv_status mgv_selection_feature(mgv_ctx *ctx, mgv_selection *selection, int64_t index,
                                         mgv_feature *out);

/* ---- Model ---------------------------------------------------------------------------------- */
typedef struct mgv_model mgv_model;
/* Copies the best iterate, in the user's units. */
MGV_API mgv_status mgv_model_new(mgv_ctx *ctx, const mgv_solver *solver, mgv_model **out);
/* Lets the model carry the run's weights and dual variables, as mgv_solver_weights() and
 * mgv_solver_dual() have them, into its file: later runs can be measured from it. MGV_E_UNSUPPORTED
 * for many classes by runs of two and where there are no dual variables. */
MGV_API mgv_status mgv_model_keep_pair(mgv_ctx *ctx, mgv_model *model, const mgv_solver *solver);
MGV_API mgv_status mgv_model_save(mgv_ctx *ctx, const mgv_model *model, const char *path);
MGV_API mgv_status mgv_model_load(mgv_ctx *ctx, const char *path, mgv_model **out);
MGV_API void mgv_model_free(mgv_ctx *ctx, mgv_model *model);

typedef struct mgv_model_info {
    size_t size;
    int64_t features, classes, nonzeros; /* classes is 0 for regression */
    const double *coef;     /* outputs x features, lives as long as the model; NULL where there are
                               support vectors */
    double intercept, norm; /* of the first output; |coef|_p in the norm of the fit */
    const char *metadata;   /* the JSON text stored with the model */
    int64_t outputs;        /* 1 for two classes or a quantity; more classes have one each, and
                               every two one where `multiclass` was ovo */
    const double *intercepts, *norms; /* one per output */
    const char *kernel;               /* the setting's name, "linear" without one */
    int64_t support;                  /* support vectors; -1: the model has weights */
    double p;                         /* of `norm`: 1 for l1, 2 where the fit has no norm */
    const char *label_name;           /* the label's column in the training data; NULL: no name */
    const char *format;               /* of the training data, the reader's name; "": not known */
    int first_index;                  /* of the training data, as in mgv_data_info */
    int pairwise;                     /* outputs are of two classes each (ovo) */
    int has_pair;                     /* it carries the run's own (w, u): mgv_model_keep_pair() */
} mgv_model_info;
MGV_API mgv_status mgv_model_describe(const mgv_model *model, mgv_model_info *out);
/* NULL when out of range. */
MGV_API const char *mgv_model_class(const mgv_model *model, int64_t index);
/* Which class of the model class `index` of the data is, by value or, of words, by spelling; -1:
 * the model has never seen it. */
MGV_API int64_t mgv_model_class_of(const mgv_model *model, const mgv_data *data, int64_t index);

/* The name of feature `index` from 0; NULL: none, or out of range. Lives as long as the model. */
MGV_API const char *mgv_model_name(const mgv_model *model, int64_t index);
/* Fills `features` with those of the `count` largest weights of an output, largest first, zeros
 * left out; *found: how many there are. None where the model has support vectors. */
MGV_API mgv_status mgv_model_largest(mgv_ctx *ctx, const mgv_model *model, int64_t output,
                                     int64_t count, int64_t *features, int64_t *found);

/* What a model's file says of the run that made it. NULL, NaN and -1: nothing. Texts live as long
 * as the model. */
typedef struct mgv_model_origin {
    size_t size;
    const char *version, *formula, *loss, *penalty, *scale, *solver;
    const char *stop;          /* mgv_stop_name() */
    const char *rule, *method; /* of a selection: the setting, and the path that was chosen from */
    double lambda, mu;
    double primal, dual, relative_gap, margin, margin_upper; /* as in mgv_certificate */
    int verified;
    int64_t iterations, runs;
    int64_t points, point; /* of that path, 0: none was kept; the chosen one from 0 */
} mgv_model_origin;
MGV_API mgv_status mgv_model_made_by(const mgv_model *model, mgv_model_origin *out);
/* Point `index` of the path the model was chosen from; `nonzeros` is -1 where the file keeps the
 * curve alone. MGV_E_ARG when it is out of range. */
MGV_API mgv_status mgv_model_point(const mgv_model *model, int64_t index, mgv_path_point *out);
/* Reads rows to predict as mgv_data_read() does, in the columns of the model:
 *   text tables, where both have names: by name, in any order; the label is the column of the name
 *     it had in training; columns the model does not know are left out with a warning
 *   other text tables: as many columns as the model has features, or one more: the label, where
 *     training had it
 *   libsvm text: counted from where the training data was; rows may be without a label, or have '?'
 * A given `label_column`, `base` or `header` wins. MGV_E_INPUT names the columns that are missing,
 * or both numbers. */
MGV_API mgv_status mgv_model_read_data(mgv_ctx *ctx, const mgv_model *model, const char *path,
                                       const mgv_settings *settings, mgv_data **out);

/* Fills `scores` (rows x outputs: x.coef + intercept). MGV_E_INPUT when dense data has another
 * number of columns than the model, or other names. Sparse data may have fewer (the others are 0)
 * or more: entries of features the model has not seen are left out, and a warning counts them. */
MGV_API mgv_status mgv_model_scores(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                                    double *scores);
/* The class that one row's `outputs` scores speak for; 0 for a quantity. */
MGV_API int64_t mgv_model_decide(const mgv_model *model, const double *scores);
/* Fills `probabilities` (rows x classes) from rows x outputs scores. MGV_E_INPUT where the loss of
 * the fit is no likelihood: logistic and softmax are. */
MGV_API mgv_status mgv_model_probabilities(mgv_ctx *ctx, const mgv_model *model, int64_t rows,
                                           const double *scores, double *probabilities);
/* Fills `counts` (classes x classes): rows of each true class by the class their scores speak for.
 * Rows with a label the model has never seen are left out. */
MGV_API mgv_status mgv_model_confusion(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                                       const double *scores, int64_t *counts);
/* Of the rows whose label is a class of the model (for a quantity: a number); the others are left
 * out. NaN: does not apply. */
typedef struct mgv_metrics {
    size_t size;
    int64_t rows;                            /* all of them */
    double accuracy, balanced_accuracy, auc; /* NaN for regression; auc: two classes only */
    double mse, r2;                          /* NaN for classification */
    double f1;       /* of the second of two classes, of more the mean over them */
    double log_loss; /* minus the mean log of the true class's probability; NaN without `scores`
                        and where the model has none */
    int64_t known;   /* rows that are measured; 0: every number above is NaN */
} mgv_metrics;
/* MGV_E_ARG when the data has no labels. `scores` may be NULL: they are computed and forgotten, of
 * dense data and many classes a block of rows at a time. */
MGV_API mgv_status mgv_model_evaluate(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                                      const double *scores, mgv_metrics *out);

/* ---- Given weights -------------------------------------------------------------------------- */
/* The problem that a model is judged on: data bound under the settings of its fit, which the model
 * keeps, where those given are unset (a strength that is given takes the place of them all), and
 * weights of rows as given. Sparse data of fewer columns is widened. MGV_E_INPUT: the data has
 * classes that the model does not know, or lacks some. MGV_E_UNSUPPORTED: a kernel. Borrows the
 * data. */
MGV_API mgv_status mgv_model_problem(mgv_ctx *ctx, const mgv_model *model, mgv_data *data,
                                     const mgv_settings *settings, mgv_problem **out);
/* The objective of the problem at the model's weights (`primal`, rounded up) and a proven lower
 * bound of it at any weights (`dual`); of a margin that of these weights, their intercept where it
 * stands, and a proven upper bound. `solver`: one that has run on the problem, whose bound is taken;
 * NULL: a bound made from the weights, which is loose where many rows lie at a bend of the loss.
 * Many classes by runs of two: the sum, as in mgv_solver_describe(). */
MGV_API mgv_status mgv_model_certify(mgv_ctx *ctx, const mgv_model *model,
                                     const mgv_problem *problem, const mgv_solver *solver,
                                     mgv_certificate *out);
/* The same for weights in the user's units: `coef` is outputs x columns of the data, `intercepts` one
 * per output; what an output is says mgv_model_info. */
MGV_API mgv_status mgv_problem_certify(mgv_ctx *ctx, const mgv_problem *problem, const double *coef,
                                       const double *intercepts, const mgv_solver *solver,
                                       mgv_certificate *out);
/* The JSON object of `margrave evaluate --json`. The files and `metrics` may be NULL. */
MGV_API mgv_status mgv_report_evaluation(mgv_ctx *ctx, const mgv_problem *problem,
                                         const mgv_certificate *certificate,
                                         const mgv_metrics *metrics, const char *model_file,
                                         const char *data_file, char **json);

/* ---- Assessment ----------------------------------------------------------------------------- */
/* What a way to make models is worth on rows it has not seen: nested cross-validation. The rows are
 * dealt out to `outer` parts, `repeat` times, every part with its share of every class and rows of
 * one number in `row_groups` together; each part is predicted by a model made from the others alone:
 * scaling, widths and the choice of the strength (setting `select`) included. Without `select` it is
 * plain cross-validation of the strength that is given. `time_limit` and `max_passes` are for all of
 * it, from here on. One copy of the training rows is made at a time. */
typedef struct mgv_assess mgv_assess;
/* Borrows the data. MGV_E_UNSUPPORTED: checkpoints, a precomputed kernel. */
MGV_API mgv_status mgv_assess_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                  mgv_assess **out);
/* Makes and judges the next model; *more is 0 when there is none, or no time for a whole one. After
 * a failure the parts that are done stay. */
MGV_API mgv_status mgv_assess_next(mgv_ctx *ctx, mgv_assess *assess, int *more);
MGV_API void mgv_assess_free(mgv_ctx *ctx, mgv_assess *assess);

/* Means over the parts that are done, which count alike; NaN: not known. A standard error is the
 * standard deviation over the root of `outer`: repeats see the same rows again. */
typedef struct mgv_assess_info {
    size_t size;
    int classify;          /* scores are accuracies; else root mean squared errors */
    int64_t outer, repeat; /* as they were asked for */
    int64_t done;          /* of outer * repeat */
    int64_t short_of;      /* models that ended before their certificate */
    double score, score_se;
    double baseline, baseline_se; /* always the larger class, or the mean, of the other parts */
    double r2, r2_se;             /* NaN for classes */
    double passes, seconds;
} mgv_assess_info;
MGV_API mgv_status mgv_assess_describe(const mgv_assess *assess, mgv_assess_info *out);

/* One part. */
typedef struct mgv_assess_part {
    size_t size;
    int64_t repeat, part; /* from 0 */
    int64_t train_rows, test_rows;
    double score, baseline, r2;
    double lambda, mu;            /* of its model; NaN: it has none */
    int64_t iteration;            /* chosen by iterations: which; else 0 */
    const char *method;           /* of the selection; NULL: the strength was given */
    double inner_score, inner_se; /* by which it was chosen: optimistic; NaN: it was not */
    int64_t nonzeros;
    mgv_stop stop;
    const char *solver;
    double relative_gap, passes, seconds;
} mgv_assess_part;
/* MGV_E_ARG when that part is not done. */
MGV_API mgv_status mgv_assess_at(const mgv_assess *assess, int64_t index, mgv_assess_part *out);

/* ---- Iterates ------------------------------------------------------------------------------- */
/* What one run is at after an iteration, best so far or not; valid during the callback. `seconds`
 * and `passes` are without what callbacks took. */
typedef struct mgv_iterate {
    size_t size;
    mgv_solver *solver; /* that runs: it must not be run or freed here */
    int64_t iteration;
    double passes, seconds;
    const double *weights; /* as mgv_solver_weights() has them */
    int64_t weight_count;
    const double *dual; /* as mgv_solver_dual() has them; NULL: the solver has none */
    int64_t dual_count;
    double residual;  /* |A w - y| where the solver knows it (equalities), else NaN */
    double smoothing; /* alpha of the last step of a method that smooths the loss, else NaN */
} mgv_iterate;

/* Return nonzero to end the run. */
typedef int (*mgv_iterate_fn)(void *user, const mgv_iterate *iterate);
/* Shows every `every`-th iterate (at least 1) of mgv_solver_run(), and of mgv_selection_run() where
 * the iterations of one run are the path (select last, discrepancy, apriori). `fn` NULL switches it
 * off. Results do not depend on it. A run of many classes as problems of two is refused. */
MGV_API mgv_status mgv_ctx_on_iterate(mgv_ctx *ctx, int64_t every, mgv_iterate_fn fn, void *user);
/* For the callback: what the judge finds of the iterate, and its score on the training rows
 * (accuracy, or the mean squared error; NULL: not wanted); and the model that it is, which has no
 * certificate of its own (to be freed as any). */
MGV_API mgv_status mgv_iterate_certify(mgv_ctx *ctx, const mgv_iterate *iterate,
                                       mgv_certificate *out, double *train_score);
MGV_API mgv_status mgv_iterate_model(mgv_ctx *ctx, const mgv_iterate *iterate, mgv_model **out);
/* The Bregman divergence R(w) - R(w*) + <A'u*, w - w*> of the penalty from the pair (w*, u*) that
 * the model carries (mgv_model_keep_pair()) to the iterate. MGV_E_ARG: it carries none, or one of
 * another problem; MGV_E_UNSUPPORTED with a kernel or a smooth term of the caller's. */
MGV_API mgv_status mgv_iterate_divergence(mgv_ctx *ctx, const mgv_iterate *iterate,
                                          const mgv_model *reference, double *out);

/* ---- Bounds --------------------------------------------------------------------------------- */
/* What is proven at the present iteration of a run, by the duality gap and by the paper of the
 * method where it runs under that paper's assumptions: low <= quantity <= high. What such a bound
 * needs of the optimum is taken from the best certified pair. */
typedef struct mgv_bound {
    size_t size;
    const char *item;     /* authors and theorem */
    const char *quantity; /* what lies between the two */
    double low, high;     /* NaN: no bound on this side */
    double found;         /* the quantity, where it is known, else NaN */
} mgv_bound;
/* After mgv_solver_run(), or in the callback of mgv_ctx_on_iterate(). MGV_E_ARG when `index` is too
 * large; nothing is proven of many classes by runs of two. */
MGV_API mgv_status mgv_solver_bound(mgv_ctx *ctx, mgv_solver *solver, int64_t index,
                                    mgv_bound *out);

/* ---- Paths ---------------------------------------------------------------------------------- */
/* One problem under falling strengths, along mu or lambda; each run starts from the last answer and
 * ends with its own certificate. Reads the settings of a fit and `along`, `path_points`,
 * `path_end` and `strengths`. `time_limit` and `max_passes` are for the whole path, from here on;
 * `max_iter` for every point. `checkpoint` is written as by a solver, within a point too unless that
 * is many runs; `resume` goes on with the points that are left. */
typedef struct mgv_path mgv_path;

/* Binds the problem and finds the strengths, which may solve a few problems. Borrows the data. */
MGV_API mgv_status mgv_path_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                mgv_path **out);
/* Solves the next point. *solver is what solved it, for mgv_solver_describe() and mgv_model_new(),
 * and lives until the next call; NULL when no point or no time is left. After a failure the points
 * that are done stay, and the call may be repeated. */
MGV_API mgv_status mgv_path_next(mgv_ctx *ctx, mgv_path *path, const mgv_solver **solver);
MGV_API void mgv_path_free(mgv_ctx *ctx, mgv_path *path);

typedef struct mgv_path_info {
    size_t size;
    const char *along;    /* "mu" or "lambda" */
    double largest;       /* strength of the first point */
    int64_t points, done; /* how many there are, and how many are solved */
    const char *formula;  /* of the last point solved; lives until the next call */
    int classify;         /* 1: scores are accuracies, of the vote where there are many classes */
    double p;             /* of the points' norms: 1 for l1, 2 where the fit has no norm */
    int unsaved;          /* 1: the last checkpoint could not be written; a warning has told why */
} mgv_path_info;
MGV_API mgv_status mgv_path_describe(const mgv_path *path, mgv_path_info *out);

/* One point; what is not known before its run is 0, NULL or MGV_STOP_NONE. */
typedef struct mgv_path_result {
    size_t size;
    double lambda, mu;
    mgv_stop stop;
    const char *solver;
    int64_t iterations;
    double passes, seconds;
    double primal, dual, relative_gap;
    int verified;
    int64_t nonzeros;
    double norm;        /* |w|_p of the weights in the user's units */
    double train_score; /* accuracy, or the mean squared error of a quantity */
} mgv_path_result;
/* MGV_E_ARG when `index` is out of range. */
MGV_API mgv_status mgv_path_at(const mgv_path *path, int64_t index, mgv_path_result *out);

/* ---- Completion ------------------------------------------------------------------------------ */
/* Seen entries (row, column, value) of a matrix, or pairs (row, column) that are asked for. */
typedef struct mgv_triples mgv_triples;

/* Text lines `row column value`, separated by blanks, tabs, commas, semicolons or `::`, with or
 * without a header, what follows ignored; or a sparse matrix (.mtx, .npz) whose stored entries are
 * the seen ones. Rows and columns are numbers, from 0 where a 0 occurs, else from 1 (setting
 * `base`), or names. Reads the settings `format`, `separator`, `header` and `base`. */
MGV_API mgv_status mgv_triples_read(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                                    mgv_triples **out);
/* Copies `count` entries, indices from 0; `values` NULL: pairs. `rows` and `cols` 0: as many as the
 * largest index needs. MGV_E_INPUT names the first bad entry. */
MGV_API mgv_status mgv_triples_new(mgv_ctx *ctx, int64_t count, const int64_t *row,
                                   const int64_t *col, const double *values, int64_t rows,
                                   int64_t cols, mgv_triples **out);
MGV_API void mgv_triples_free(mgv_ctx *ctx, mgv_triples *triples);

typedef struct mgv_triples_info {
    size_t size;
    int64_t rows, cols, count;
    int has_values, row_names, col_names; /* whether there are any */
    int64_t unknown;                      /* pairs with a row or column the model has not seen */
    const char *format;
    double load_seconds;
} mgv_triples_info;
MGV_API mgv_status mgv_triples_describe(const mgv_triples *triples, mgv_triples_info *out);
/* `count` numbers, or NULL; lives as long as the triples, until a completion sorts them. */
MGV_API const double *mgv_triples_values(const mgv_triples *triples);

/* A low-rank matrix that agrees with the seen entries as well as the held-out ones allow: factors
 * left and right, and biases where they help. */
typedef struct mgv_completion mgv_completion;
/* Reads the settings `select` (none: holdout:0.1; also last, discrepancy:DELTA), `seed`,
 * `sigma_factor`, `sigma`, `patience`, `rank_max`, `biases`, `finish`, `max_iter` and `time_limit`.
 * Sorts the triples by row and column, entries given more than once become their mean. An interrupt
 * ends it with the best so far. */
MGV_API mgv_status mgv_completion_run(mgv_ctx *ctx, mgv_triples *triples,
                                      const mgv_settings *settings, mgv_completion **out);
MGV_API void mgv_completion_free(mgv_ctx *ctx, mgv_completion *completion);

/* Errors are root mean squared ones. NaN: not known. Pointers live as long as the completion. */
typedef struct mgv_completion_info {
    size_t size;
    int64_t rows, cols;
    int64_t entries, given; /* different ones, and with repetitions */
    int64_t held_out;       /* entries */
    int64_t rank;
    mgv_stop stop;
    int64_t iterations, iteration; /* of the path: all, and the chosen one */
    int64_t sweeps;                /* of alternating least squares */
    int finished, biases;          /* whether the sweeps and the biases were taken */
    double ridge;                  /* of the sweeps */
    double baseline_error;         /* held out: zero, or the biases alone */
    double path_error;             /* of the chosen iterate */
    double held_out_error;         /* of the answer before it was fitted again to all entries */
    double train_error;            /* of the answer on all entries */
    double noise;                  /* the noise level of discrepancy:DELTA */
    /* With a ridge: 1/2 |X - b|^2 + ridge |X|_*, what no matrix of any rank is below, and their
     * relative gap. For select last and discrepancy: |X|_*, and what no matrix with these values at
     * the entries is below. NaN: none. */
    double primal, dual, relative_gap;
    double dual_norm;       /* largest singular value of the residual, by Lanczos-like steps */
    double mean, low, high; /* of the values seen */
    double seconds;
    const double *left, *right;        /* rows x rank and cols x rank */
    const double *row_bias, *col_bias; /* the row's have the mean in them; NULL: none */
    const char *formula;
    int unsaved; /* 1: the last checkpoint could not be written; a warning has told why */
} mgv_completion_info;
MGV_API mgv_status mgv_completion_describe(const mgv_completion *completion,
                                           mgv_completion_info *out);
MGV_API mgv_status mgv_completion_save(mgv_ctx *ctx, const mgv_completion *completion,
                                       const char *path);
/* MGV_E_INPUT when the file is not one; mgv_completion_is() asks before. */
MGV_API mgv_status mgv_completion_load(mgv_ctx *ctx, const char *path, mgv_completion **out);
/* Whether the file of a model is a completion; 0 also when it cannot be read. */
MGV_API int mgv_completion_is(mgv_ctx *ctx, const char *path);
/* Pairs (or triples) in the completion's own numbers and names. */
MGV_API mgv_status mgv_completion_read_pairs(mgv_ctx *ctx, const mgv_completion *completion,
                                             const char *path, const mgv_settings *settings,
                                             mgv_triples **out);
/* Fills `values` (one per pair, in their order). `clip`: not outside the range of the values seen.
 * A row or column that was never seen gets what is known without it: the other's bias, or the mean.
 */
MGV_API mgv_status mgv_completion_predict(mgv_ctx *ctx, const mgv_completion *completion,
                                          const mgv_triples *pairs, int clip, double *values);
/* The JSON object of `margrave complete --json`; the files may be NULL. */
MGV_API mgv_status mgv_report_completion(mgv_ctx *ctx, const mgv_completion *completion,
                                         const char *data_file, const char *model_file,
                                         char **json);

/* ---- Images --------------------------------------------------------------------------------- */
/* height x width pixels by rows, the channels of a pixel beside each other, 0 is black and 1 white;
 * an alpha channel is kept apart. */
typedef struct mgv_image mgv_image;
/* Copies the pixels, which must be finite; 1 to 64 channels, sides up to 32768. */
MGV_API mgv_status mgv_image_new(mgv_ctx *ctx, int64_t height, int64_t width, int channels,
                                 const double *pixels, mgv_image **out);
/* PNG of every colour type and depth (values as stored, no gamma), PGM and PPM; "-" is standard
 * input. */
MGV_API mgv_status mgv_image_read(mgv_ctx *ctx, const char *path, mgv_image **out);
/* In the format the name ends in (.png, .pgm, .ppm, .pnm; "-": PNG on standard output), 1 or 3
 * channels, clipped to 0..1, with the depth it was read with, else 16 bits; to a temporary name,
 * then renamed. */
MGV_API mgv_status mgv_image_write(mgv_ctx *ctx, const mgv_image *image, const char *path);
MGV_API void mgv_image_free(mgv_ctx *ctx, mgv_image *image);

typedef struct mgv_image_info {
    size_t size;
    int64_t height, width;
    int channels, depth;  /* depth: bits of a number in its file, 0: it has none */
    const double *pixels; /* live as long as the image */
    const double *alpha;  /* height x width; NULL: none */
} mgv_image_info;
MGV_API mgv_status mgv_image_describe(const mgv_image *image, mgv_image_info *out);
/* 10 log10(1 / mean square difference) in dB, both clipped to 0..1. MGV_E_ARG: other shapes. */
MGV_API mgv_status mgv_image_psnr(mgv_ctx *ctx, const mgv_image *image, const mgv_image *truth,
                                  double *out);

/* ---- Deblurring ----------------------------------------------------------------------------- */
/* A point spread function, one channel with odd sides whose middle is the origin and whose sum is
 * 1: from an image or a table (npy, csv; an even side gets a line of zeros at its end), or a
 * Gaussian of `sigma` pixels. */
MGV_API mgv_status mgv_psf_read(mgv_ctx *ctx, const char *path, mgv_image **out);
MGV_API mgv_status mgv_psf_gaussian(mgv_ctx *ctx, double sigma, mgv_image **out);

/* min TV(w) subject to A w = image, A the convolution with `psf`, stopped where the residual
 * reaches the noise. Reads the settings `edges`, `noise`, `noise_factor`, `sigma`, `sigma_factor`,
 * `split`, `prox_tol`, those of stopping, `checkpoint` and `resume`, as a solver does. Borrows image
 * and truth (NULL: not known), which must outlive it; MGV_E_INPUT when their shapes differ. */
typedef struct mgv_deblur mgv_deblur;
MGV_API mgv_status mgv_deblur_new(mgv_ctx *ctx, const mgv_image *image, const mgv_image *psf,
                                  const mgv_image *truth, const mgv_settings *settings,
                                  mgv_deblur **out);
/* Events carry the residual and, beside a truth, the PSNR of every iterate. */
MGV_API mgv_status mgv_deblur_run(mgv_ctx *ctx, mgv_deblur *deblur);
/* The restored image, clipped to 0..1, with the depth and the alpha of the original. MGV_E_ARG
 * before the run. */
MGV_API mgv_status mgv_deblur_image(mgv_ctx *ctx, const mgv_deblur *deblur, mgv_image **out);
MGV_API void mgv_deblur_free(mgv_ctx *ctx, mgv_deblur *deblur);

typedef struct mgv_deblur_info {
    size_t size;
    const char *solver, *formula; /* live as long as the deblurring */
    mgv_stop stop;
    int64_t iterations;
    double seconds;
    int64_t psf_height, psf_width;
    double noise; /* standard deviation */
    int noise_estimated;
    double target, residual; /* |A w - image| to reach, and reached */
    double psnr_image, psnr; /* beside the truth, before and after; NaN: no truth */
    double best_psnr;        /* of any iterate */
    int64_t best_iteration;
    int unsaved; /* 1: the last checkpoint could not be written; a warning has told why */
} mgv_deblur_info;
MGV_API mgv_status mgv_deblur_describe(const mgv_deblur *deblur, mgv_deblur_info *out);

/* ---- Report --------------------------------------------------------------------------------- */
/* The JSON object of `margrave fit --json`, freed with mgv_string_free(). `model` and the files
 * may be NULL. */
MGV_API mgv_status mgv_report_fit(mgv_ctx *ctx, const mgv_solver *solver, const mgv_model *model,
                                  const char *data_file, const char *model_file, char **json);
/* The JSON object of `margrave show --json`, with the `largest` weights of every output.
 * `model_file` may be NULL. */
MGV_API mgv_status mgv_report_model(mgv_ctx *ctx, const mgv_model *model, const char *model_file,
                                    int64_t largest, char **json);
/* The JSON object of `margrave path --json`. `model_files` has a name for every point that is done;
 * it and `data_file` may be NULL. */
MGV_API mgv_status mgv_report_path(mgv_ctx *ctx, const mgv_path *path, const char *data_file,
                                   const char *const *model_files, char **json);
/* The JSON object of `margrave assess --json`. `data_file` may be NULL. */
MGV_API mgv_status mgv_report_assess(mgv_ctx *ctx, const mgv_assess *assess, const char *data_file,
                                     char **json);

/* The JSON object of `margrave deblur --json`. The names may be NULL. */
MGV_API mgv_status mgv_report_deblur(mgv_ctx *ctx, const mgv_deblur *deblur, const char *image_file,
                                     const char *psf_name, const char *output_file, char **json);

#ifdef __cplusplus
}
#endif
#endif
