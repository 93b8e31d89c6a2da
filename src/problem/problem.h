/* problem/problem.h - min over w of  R(w) + F(w) + sum_i s_i G_i((A w)_i), bound from data and
 * settings; F is the caller's own smooth function, mostly absent.
 *
 * A is one operator (op/view.c): label signs, scaling, centring and the intercept column are laid
 * over the data and no solver sees them. The last `free_cols` columns (the intercept) carry no
 * penalty. No 1/n is hidden: a mean is s_i = 1/n. Sample and class weights are in s. */
#ifndef MGVI_PROBLEM_PROBLEM_H
#define MGVI_PROBLEM_PROBLEM_H

#include "backend/terms.h"
#include "base/settings.h"
#include "data/data.h"
#include "op/class_graph.h"
#include "op/contrast.h"
#include "op/kernel.h"

#include <math.h>

const char *mgvi_scale_name(mgvi_scaling scale);

/* A problem of two classes that is a lane of a block: `positive` against `negative`. */
typedef struct mgvi_lane {
    int64_t positive, negative;
} mgvi_lane;
enum { MGVI_THE_REST = -1 }; /* all other classes */

struct mgv_problem {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_data *data;     /* borrowed, or */
    mgv_data *own_data; /* made for an operator: targets and groups, no matrix */

    mgvi_op *A;
    int64_t free_cols; /* at the end: 0 or 1, and of contrasts 0 or one per class */
    int32_t lanes;
    int32_t outputs; /* scores of an example: `lanes`, or the classes of contrasts */
    const mgvi_loss_ops *loss;
    mgvi_coefs row; /* s_i, and the loss's a_i and b_i */
    const mgvi_penalty_ops *penalty;
    mgvi_coefs col;           /* for the penalised columns */
    const void *penalty_data; /* the penalty's own (penalty/registry.h), NULL: none */
    mgvi_norm_form split;     /* R as a norm of D w, D is the problem's; D NULL: no such form */
    mgv_smooth smooth;        /* F; grad NULL: 0 */
    double low, high;         /* every penalised weight lies between them; infinite: none */

    bool classify;
    double lambda, mu;      /* as solved; NaN where they do not apply */
    bool by_C;              /* they follow from C, given or 1, and the weight of the rows */
    double p;               /* the penalty is a power of |w|_p; NaN where it is of no norm */
    double total_weight;    /* sum of sample times class weights */
    int64_t positive;       /* the class whose rows are +1 (of the first lane); all others are -1 */
    const mgvi_lane *block; /* the lanes are these problems of two classes; NULL: one problem */
    bool many;              /* stands for such a problem of every class; bound for class 0 */
    bool pairwise;          /* many: the problems are those of every two classes */
    mgvi_class_graph *graph; /* of contrasts with intercepts: work space; else NULL */
    mgvi_scaling scaling;
    const mgv_problem *whole; /* whose scaling of the columns is taken over; NULL: its own */
    const double *target;     /* rows: the label, or -1 and +1; NULL: the view's sign says it */
    mgvi_view view;     /* what A lays over the data, of a kernel over its examples; its sign: of
                     * classes, +1 for the second */
    mgvi_kernel kernel; /* kind MGVI_KERNEL_LINEAR: A is over the data's own columns */
    char *formula;
    char task[192];        /* what `classify` says, and why, in words; "" without labels */
    mgv_settings settings; /* a copy, for reports */
};

/* Classes: class `positive` against the rest. MGVI_EVERY_CLASS: of two classes the second against
 * the first; of more the problem is `many`. */
enum { MGVI_EVERY_CLASS = -1 };
mgv_status mgvi_problem_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                            int64_t positive, mgv_problem **out);
/* The same for MGVI_EVERY_CLASS, unless the limit strikes meanwhile: MGV_E_LIMIT. */
mgv_status mgvi_problem_new_in_time(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                    mgv_problem **out);
/* Class `positive` of `whole`, which is `many`, against the rest: with a kernel it shares the rows
 * that `whole` lends (op/kernel.h). */
mgv_status mgvi_problem_new_member(mgv_ctx *ctx, const mgv_problem *whole,
                                   const mgv_settings *settings, int64_t positive,
                                   mgv_problem **out);
/* `count` problems of two classes as the lanes of one problem, scaled and centred as `whole`.
 * A row of another class has weight 0 in a lane, and weights are parts of those of all rows.
 * Borrows `lane`. */
mgv_status mgvi_problem_new_block(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                  const mgvi_lane *lane, int32_t count, const mgv_problem *whole,
                                  mgv_problem **out);
/* Two classes out of those of `whole`, scaled as `whole` is: `data` has their rows only. */
mgv_status mgvi_problem_new_like(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                 const mgv_problem *whole, mgv_problem **out);
/* The rows of `like`, their classes and weights, over other columns: those of X, which is borrowed
 * and has been checked. */
mgv_status mgvi_problem_new_columns(mgv_ctx *ctx, const mgv_problem *like, const mgvi_matrix *X,
                                    const mgv_settings *settings, mgv_problem **out);
/* For an operator that is no table: the losses want `target` (A's rows), `equal` when the setting
 * says auto; no intercept. `group` (A's columns) may be NULL. Takes over A, also on failure. */
mgv_status mgvi_problem_over(mgv_ctx *ctx, mgvi_op *A, const double *target, const int64_t *group,
                             const mgv_settings *settings, mgv_problem **out);
void mgvi_problem_free(mgv_problem *problem); /* NULL is accepted */
/* Another strength under the same data, for paths: of l1, l2 and enet mu > 0 makes the penalty l1
 * or, with lambda > 0, enet; else it is l2. Others stay what they are. Solvers of the problem must
 * be gone or done. */
mgv_status mgvi_problem_set_strengths(mgv_problem *problem, double lambda, double mu);
/* The C that the strengths amount to: docs/terms.md (C). NaN: none. */
double mgvi_problem_C(const mgv_problem *problem);

/* Examples: A's rows, of contrasts one for each of their classes. */
static inline int64_t mgvi_problem_examples(const mgv_problem *p) { return p->data->X.rows; }
/* What the data says of classes: how many there are, which is that of row i, and how it is spelled. */
static inline int64_t mgvi_problem_classes(const mgv_problem *p) { return p->data->classes; }
static inline int64_t mgvi_problem_class_of(const mgv_problem *p, int64_t i)
{
    return mgvi_data_class_of(p->data, p->data->labels[i]);
}
static inline const char *mgvi_problem_class_text(const mgv_problem *p, int64_t c)
{
    return p->data->class_text[c];
}
/* The hash (base/hash.h) goes on over the rows: shape, labels, weights and a sample of entries. */
uint64_t mgvi_problem_hash(const mgv_problem *problem, uint64_t hash);
/* Bytes of the data: the matrix, its labels and its weights as they are stored. */
double mgvi_problem_bytes(const mgv_problem *problem);
/* Bytes of memory beyond the data that a solver may spend on copies of it, where it and the driver
 * hold `held` numbers for every row: a rule of the data's shape alone (docs/memory.md), 0 or more.
 */
double mgvi_problem_spare(const mgv_problem *problem, double held);

static inline bool mgvi_problem_has_smooth(const mgv_problem *p) { return p->smooth.grad != NULL; }
/* Takes the weight of these rows away, for good; the others' weights sum to 1 again. The centre and
 * the scale of the columns stay: they are no more than coordinates. */
mgv_status mgvi_problem_leave_out(mgv_problem *problem, const int32_t *row, int64_t count);

static inline bool mgvi_problem_is_bounded(const mgv_problem *p)
{
    return p->low > -INFINITY || p->high < INFINITY;
}

/* A hard margin, whatever is least under it. */
static inline bool mgvi_problem_wants_margin(const mgv_problem *p)
{
    return (p->loss->can & MGVI_HARD) && (p->loss->can & MGVI_MARGIN);
}

/* A hard margin in the norm p: certified by bounds of the margin, free of w's and u's scale. */
static inline bool mgvi_problem_has_margin(const mgv_problem *p)
{
    return mgvi_problem_wants_margin(p) && !isnan(p->p) && !mgvi_problem_has_smooth(p);
}
static inline int64_t mgvi_problem_penalised(const mgv_problem *p)
{
    return p->A->cols - p->free_cols;
}
/* Penalties that are parts of the elastic net: MGVI_SQUARE, MGVI_ABS or both. */
static inline unsigned mgvi_penalty_parts(const mgvi_penalty_ops *penalty)
{
    return penalty->can & (MGVI_SQUARE | MGVI_ABS);
}
static inline bool mgvi_penalty_is_net(const mgvi_penalty_ops *penalty)
{
    return mgvi_penalty_parts(penalty) == (MGVI_SQUARE | MGVI_ABS);
}
static inline bool mgvi_problem_is_net(const mgv_problem *p)
{
    return mgvi_penalty_is_net(p->penalty);
}
/* Those: column j costs lambda/2 w_j^2 + mu |w_j|. */
typedef struct mgvi_strengths {
    double lambda, mu;
} mgvi_strengths;
static inline mgvi_strengths mgvi_problem_strengths(const mgv_problem *p, int64_t j)
{
    const mgvi_coef c = mgvi_coefs_at(&p->col, j, 0);
    if (!(p->penalty->can & MGVI_ABS))
        return (mgvi_strengths){.lambda = c.scale};
    return (mgvi_strengths){.lambda = p->penalty->can & MGVI_SQUARE ? c.a : 0, .mu = c.scale};
}
/* The weight of every row (NULL: not wanted), and lambda and mu of every penalised column. */
void mgvi_problem_coefficients(const mgv_problem *p, double *row, double *lambda, double *mu);
/* The penalised coordinates of a column vector: a view. */
static inline mgvi_vec mgvi_problem_penalised_part(const mgv_problem *p, const mgvi_vec *x)
{
    return mgvi_vec_part(x, 0, mgvi_problem_penalised(p));
}
/* The others: a view. */
static inline mgvi_vec mgvi_problem_free_part(const mgv_problem *p, const mgvi_vec *x)
{
    return mgvi_vec_part(x, mgvi_problem_penalised(p), p->free_cols);
}
/* Nonzero weights of w, over all lanes. */
static inline int64_t mgvi_problem_nonzeros(const mgv_problem *p, const double *w)
{
    return mgvi_count_nonzeros(w, mgvi_problem_penalised(p) * p->lanes);
}
/* The penalty, ready for vectors like that part; its work space comes from the arena. */
mgv_status mgvi_problem_penalty(const mgv_problem *problem, mgvi_arena *arena, mgvi_penalty *out);
/* F(w) and its gradient, over all columns; 0 where there is no F. A callback that answers other
 * than 0 interrupts the run. */
mgv_status mgvi_problem_set_smooth(mgv_problem *problem, const mgv_smooth *smooth);
double mgvi_problem_smooth_value(const mgv_problem *problem, const mgvi_vec *w);
void mgvi_problem_smooth_grad(const mgv_problem *problem, const mgvi_vec *w, mgvi_vec *grad);

/* The entry of row i in the intercept column: +1 or -1. Not for contrasts, which have many. */
static inline double mgvi_problem_free_entry(const mgv_problem *p, int64_t i)
{
    return mgvi_view_sign(&p->view, i);
}

/* That column, as a vector of the rows. */
void mgvi_problem_free_column(const mgv_problem *problem, mgvi_vec *out);

/* The same in lane c. */
static inline double mgvi_problem_free_entry_of(const mgv_problem *p, int64_t i, int32_t c)
{
    return mgvi_view_sign(&p->view, p->block ? i * p->lanes + c : i);
}
/* Whether row i is of one of the two classes of lane c. */
static inline bool mgvi_problem_takes_part(const mgv_problem *p, int64_t i, int32_t c)
{
    const mgvi_lane *lane = &p->block[c];
    const double label = p->data->labels[i];
    return lane->negative == MGVI_THE_REST || label == p->data->class_value[lane->positive] ||
           label == p->data->class_value[lane->negative];
}

/* What row i's score is fitted to when A is not signed: the label, or -1 and +1 for classes. */
static inline double mgvi_problem_target(const mgv_problem *p, int64_t i)
{
    return p->target ? p->target[i] : p->view.sign[i];
}

/* The kernel operator that A is, or that its contrasts are of; NULL: none. */
mgvi_kernel_op *mgvi_problem_kernel(const mgv_problem *p);
/* The joint hard margin: A's rows are pairs of an example and a class (op/contrast.h). */
static inline bool mgvi_problem_has_contrasts(const mgv_problem *p)
{
    return p->A->ops->can & MGVI_CONTRAST;
}

/* Hard margin: the classes that row i tells apart, own from rival, and their edge in a graph of all
 * classes (op/class_graph.h). */
typedef struct mgvi_problem_pair {
    int32_t own, rival;
    int64_t at;
} mgvi_problem_pair;
static inline mgvi_problem_pair mgvi_problem_edge(const mgv_problem *p, int64_t i)
{
    const int32_t k = p->outputs > p->lanes ? p->outputs : 2;
    const int32_t own = k > 2 ? (int32_t)p->target[i / k] : p->view.sign[i] > 0;
    const int32_t rival = k > 2 ? (int32_t)(i % k) : !own;
    return (mgvi_problem_pair){.own = own, .rival = rival, .at = (int64_t)own * k + rival};
}
/* g->edge: the least z over the rows with weight of every edge. */
void mgvi_problem_measure_edges(const mgv_problem *problem, const double *z, mgvi_class_graph *g);

/* Hard margin, z = A w: the least z over the rows with weight; with an intercept the best one for
 * this w makes both classes' least margins equal, and this is their mean; with one for each class
 * see op/class_graph.h. */
double mgvi_problem_least_margin(const mgv_problem *problem, const double *z);
/* Adds to the intercepts in w what makes that its least margin; nothing without them, and for other
 * losses. */
void mgvi_problem_best_shift(const mgv_problem *problem, const double *z, mgvi_vec *w);

/* The numbers a model has per output: one weight per feature, with a kernel one per example. */
static inline int64_t mgvi_problem_coefs(const mgv_problem *p)
{
    return p->kernel.kind == MGVI_KERNEL_LINEAR ? p->data->X.cols : p->data->X.rows;
}
/* w of the problem (cols x lanes, scaled units) to the user's units: coef (outputs x
 * mgvi_problem_coefs) and intercept (outputs). */
void mgvi_problem_user_weights(const mgv_problem *problem, const double *w, double *coef,
                               double *intercept);
/* The same of one output: coef has mgvi_problem_coefs numbers. */
void mgvi_problem_user_lane(const mgv_problem *problem, const double *w, int64_t lane, double *coef,
                            double *intercept);

/* Its inverse. */
void mgvi_problem_own_weights(const mgv_problem *problem, const double *coef, double intercept,
                              double *w);

/* |w|_p in the user's units: scaling undone, without the intercept. */
double mgvi_problem_user_norm(const mgv_problem *problem, const double *w);

/* Hard margin: two equal examples with different labels, which no w tells apart, as u with A'u = 0
 * exactly (opposite.c). `rows`: the examples of the data by rows; not read where there is a kernel,
 * which has its own. *found: there are such; u is 0 elsewhere. */
mgv_status mgvi_problem_opposites(const mgv_problem *problem, const mgvi_matrix *rows, mgvi_vec *u,
                                  bool *found);

/* bind.c: the parts of binding, in the order they are done. */
mgv_status mgvi_bind_terms(mgv_problem *problem);   /* task.c */
mgv_status mgvi_bind_classes(mgv_problem *problem); /* bind_classes.c */
mgv_status mgvi_bind_rows(mgv_problem *problem);
mgv_status mgvi_bind_operator(mgv_problem *problem);
mgv_status mgvi_bind_contrasts(mgv_problem *problem);    /* bind_classes.c; lays them over A */
mgv_status mgvi_bind_lane_weights(mgv_problem *problem); /* bind_classes.c; after the operator */
mgv_status mgvi_bind_kernel(mgv_problem *problem); /* bind_kernel.c; A over a kernel's features */
mgv_status mgvi_bind_formula(mgv_problem *problem);
#endif
