/* parts/hinge_interior_impl.h - what the files of the interior point share. Letters as in
 * docs/algorithms/column_generation.md. */
#ifndef MGVI_SOLVER_PARTS_HINGE_INTERIOR_IMPL_H
#define MGVI_SOLVER_PARTS_HINGE_INTERIOR_IMPL_H

#include "solver/parts/hinge_interior.h"

enum { MGVI_HINGE_FACES = 4 }; /* tried at a point */

typedef struct mgvi_hinge_key {
    double value;
    int32_t index;
} mgvi_hinge_key;

struct mgvi_hinge_interior {
    const mgvi_hinge_block *p;
    int64_t rows, most_cols; /* room */
    double tau;              /* mean complementarity */
    double b, db;
    /* rows: a in (0, s) is theta, c = s - a; the slacks slack and xi; z = Z w + y b; the residual
     * of the row equation; targets; directions; 1/Th is the row's weight in the normal equations */
    double *a, *c, *slack, *xi, *z, *rd, *t_slack, *t_xi, *da, *d_slack, *d_xi, *Th, *r;
    /* cols: w = p - q with multipliers zp, zq; v = Z'a + lin */
    double *w, *v, *pos, *neg, *z_pos, *z_neg, *r_pos, *r_neg, *t_pos, *t_neg, *d_pos, *d_neg,
        *dz_pos, *dz_neg, *K, *k0, *dw, *g;
    double *H; /* the normal equations, min(rows, cols) squared; rows squared with a gram matrix */
    double *by_rows; /* rows x cols: Z by rows, when there are more rows than columns */
    double *pair;    /* two right-hand sides, interleaved */
    double *best_theta, *best_w, best_b, best_gap; /* the best point so far */
    double *face_theta, *face_w;                   /* the point of a face */
    mgvi_hinge_key *keys;                          /* rows + cols: rankings */
    int32_t *face_row, *face_col;
    bool *upper;
    double *sign;
    uint64_t tried[MGVI_HINGE_FACES]; /* the faces of the last attempts */
};

/* Whether the system has the size of the columns. */
static inline bool mgvi_hinge_by_columns(const mgvi_hinge_block *p)
{
    return !p->gram && p->cols < p->rows;
}

/* hinge_normal.c: the normal equations (9) or (10) at the present point; false: not positive. */
mgv_status mgvi_hinge_factor(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive);
/* da, db, dw and g = Z'da from r, k0 and the residual rb of the intercept's equation. */
mgv_status mgvi_hinge_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb);

/* hinge_face.c: tries the faces the present point suggests; keeps the exact point of one as the
 * best when it is better. */
mgv_status mgvi_hinge_try_faces(mgv_ctx *ctx, mgvi_hinge_interior *k, double gap, bool *exact);
#endif
