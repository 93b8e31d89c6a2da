/* penalty/whole.h - what a penalty that does not separate provides: functions of a whole vector.
 * They see one contiguous lane at a time; backend/terms.c brings lanes and penalties together, so
 * that no caller asks whether a penalty separates. docs/terms.md, "Penalties of a whole vector". */
#ifndef MGVI_PENALTY_WHOLE_H
#define MGVI_PENALTY_WHOLE_H

#include "base/formula.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/settings.h"

/* A v scaled to the boundary of the conjugate's domain counts as inside: it misses by rounding. */
#define MGVI_ON_BOUNDARY 1e-12

/* What a function is told about its lane. */
typedef struct mgvi_whole {
    mgv_ctx *ctx;
    mgvi_coef c;      /* scale: the strength; a and b as the penalty documents them */
    int64_t n;        /* penalised columns */
    const void *data; /* what bind() made: groups, shapes, sorted weights; NULL without bind */
    double *work;     /* room(n, data) numbers of the caller's own, kept from call to call */
    double error; /* of a prox that iterates: x may miss by an error-subgradient of R; 0: its own */
} mgvi_whole;

/* What a penalty is made from. */
typedef struct mgvi_penalty_input {
    const mgv_settings *settings;
    int64_t n;            /* penalised columns */
    const int64_t *group; /* n numbers: the group of each column, -1: none; NULL: not known */
} mgvi_penalty_input;

struct mgvi_op;
/* R(w) = c sum_g |(D w)_g|_2 over groups of `group` consecutive rows of D: a solver may give D w
 * dual variables v of its own, |v_g| <= c, in place of R's prox. */
typedef struct mgvi_norm_form {
    struct mgvi_op *D; /* NULL: the penalty has no such form */
    int64_t group;
    double square_norm; /* >= |D|^2 */
    bool preferred; /* the prox iterates: it is the slower way unless products with A are slow */
} mgvi_norm_form;

/* A function the penalty lacks is NULL and its bit is not in `can`. `out` may be the argument. */
typedef struct mgvi_whole_ops {
    /* How many numbers of work space; NULL: none. */
    int64_t (*room)(int64_t n, const void *data);
    double (*value)(const mgvi_whole *self, const double *w);
    /* argmin_v R(v) + |v - w|^2/(2 step), to rounding level; may iterate. */
    void (*prox)(const mgvi_whole *self, const double *w, double step, double *out);
    double (*conj)(const mgvi_whole *self, const double *v);
    void (*mirror)(const mgvi_whole *self, const double *v, double *out);
    /* The largest t in [0, 1] with t v in the domain of the conjugate; NULL: it is everywhere. */
    double (*dual_scale)(const mgvi_whole *self, const double *v);
    /* The largest finite value of R; NULL: there is none. */
    double (*most)(const mgvi_whole *self);
    /* Its form as a norm of D w, D the caller's to free; NULL: none. */
    mgv_status (*split)(mgv_ctx *ctx, const void *data, int64_t n, mgvi_norm_form *out);
    /* Random legal data for tests, as bind() makes it; NULL: none. */
    mgv_status (*sample_data)(mgvi_arena *arena, mgvi_rng *rng, int64_t n, const void **data);
} mgvi_whole_ops;

/* Disjoint groups of columns: what the penalties of groups are bound to. */
typedef struct mgvi_groups {
    int64_t count;
    int64_t
        *first; /* count + 1: where a group begins in `column`; behind the last, columns of none */
    int64_t *column; /* all columns, by group */
    double *weight;  /* count */
} mgvi_groups;
#endif
