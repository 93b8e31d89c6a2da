/* column_generation/hinge_interior_impl.h - what the files of the interior point share. Letters as in
 * docs/algorithms/column_generation.md. */
#ifndef MGVI_SOLVER_HINGE_INTERIOR_IMPL_H
#define MGVI_SOLVER_HINGE_INTERIOR_IMPL_H

#include "solver/column_generation/hinge_interior.h"
#include "solver/shared/ranking.h"

enum {
    MGVI_HINGE_FACES = 4, /* tried at a point */
    MGVI_HINGE_CG = 5     /* vectors of live rows */
};

/* A direction of everything. */
typedef struct mgvi_hinge_move {
    double db;
    double *a, *slack, *xi;                    /* rows; c moves by -a */
    double *w, *g, *pos, *neg, *z_pos, *z_neg; /* cols; g = Z'a */
} mgvi_hinge_move;

/* How a step's system (9) is solved: by conjugate gradients, with its diagonal or a float32 factor,
 * or by a float64 factor. */
typedef enum mgvi_hinge_way {
    MGVI_HINGE_DIAGONAL,
    MGVI_HINGE_FLOAT,
    MGVI_HINGE_SHARP
} mgvi_hinge_way;

/* Of a row. BACK: for good; PRESUMED: as in a smaller block. */
typedef enum mgvi_hinge_row {
    MGVI_HINGE_LIVE,
    MGVI_HINGE_RESTS,
    MGVI_HINGE_BACK,
    MGVI_HINGE_PRESUMED
} mgvi_hinge_row;

struct mgvi_hinge_interior {
    const mgvi_hinge_block *p;
    double tau;  /* mean complementarity before the last step */
    double lag;  /* what rows of entropy lack then, in its units */
    double dual; /* value after it */
    double b;
    /* Rows that are still in question, in order; the others rest at a = 0 or a = s (sparse blocks
     * alone). `rests` per row: 0 where it is live; `presumed`: some rest as a smaller
     * block said; `settled`: they did at the start, no others will; `restless`: it did not work
     * out, all stay live. */
    bool presumed, settled, restless;
    mgvi_hinge_waypoint *halfway; /* NULL: nothing is kept on the way */
    int64_t live;
    int32_t *row;
    int8_t *rests;
    /* rows: a in (low, s) is theta, l = a - low, c = s - a; the slacks slack and xi; z = Z w + y b;
     * the residual of the row equation; complementarity aimed at and what it asks of the slacks;
     * 1/Th is the row's weight in the normal equations. Rows of entropy have no l and no slacks,
     * free ones no c either */
    double *a, *l, *c, *slack, *xi, *z, *rd, *e_slack, *e_xi, *t_slack, *t_xi, *Th, *r, *t_row;
    /* cols: w = p - q with multipliers zp, zq; v = Z'a + lin */
    double *w, *v, *pos, *neg, *z_pos, *z_neg, *r_pos, *r_neg, *e_pos, *e_neg, *t_pos, *t_neg, *K,
        *k0;
    mgvi_hinge_move at, other; /* the direction, and room for another one */
    mgvi_hinge_move rest;      /* what refines it: a, w, g and b alone */
    double *H; /* the normal equations, min(rows, cols) squared; rows squared with a gram matrix */
    double *by_rows; /* rows x cols: Z by rows, when there are more rows than columns */
    double *side;    /* a right-hand side, and the solution */
    double *along;   /* the solution for the intercept's side, where `has_along`, */
    double *along_g; /* and by columns that side itself */
    bool has_along;
    bool spoiled;         /* this step has no factor */
    mgvi_hinge_way way;   /* of this step, */
    mgvi_hinge_way least; /* and of those to come: what failed once is not tried again */
    double *cg_live, *cg_row, *cg_col; /* vectors of conjugate gradients (sparse blocks) */
    double *best_theta, *best_w, best_b, best_gap; /* the best point so far */
    double *face_theta, *face_w;                   /* the point of a face */
    mgvi_ranked *keys;                             /* rows + cols: rankings */
    int32_t *face_row, *face_col;
    bool *upper;
    double *sign;
    uint64_t tried[MGVI_HINGE_FACES]; /* the faces of the last attempts */
    double work;                      /* multiplications so far */
};

/* Whether the system has the size of the columns. */
static inline bool mgvi_hinge_by_columns(const mgvi_hinge_interior *k)
{
    return !k->p->gram && k->p->cols < (k->p->sparse ? k->live : k->p->rows);
}
/* Whether rows may leave the system: those of margins, but not of a dense one that has their size.
 */
static inline bool mgvi_hinge_may_rest(const mgvi_hinge_interior *k)
{
    return k->p->kind == MGVI_ROWS_BOXED && !k->p->target &&
           (k->p->sparse || mgvi_hinge_by_columns(k));
}
/* Live rows with slacks. */
static inline int64_t mgvi_hinge_boxed(const mgvi_hinge_interior *k)
{
    return k->p->kind == MGVI_ROWS_BOXED ? k->live : 0;
}

/* hinge_waypoint.c: a column with weight w whose multipliers are as v has them; a row back in
 * question, near the bound where it rested. Products of tau or more. */
void mgvi_hinge_start_column(mgvi_hinge_interior *k, int64_t j, double w, double tau);
void mgvi_hinge_put_back(mgvi_hinge_interior *k, int64_t i);
/* Keeps the point; goes on from the one that was kept, with the rows that are live and the columns
 * there are now. */
void mgvi_hinge_keep_waypoint(mgvi_hinge_interior *k);
void mgvi_hinge_resume(mgv_ctx *ctx, mgvi_hinge_interior *k);

/* hinge_normal.c: the normal equations (9) or (10) at the present point; false: not positive. */
mgv_status mgvi_hinge_factor(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive);
/* a, b, w and g of k->at from r, k0 and the residual rb of the intercept's equation. */
mgv_status mgvi_hinge_direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb);

/* hinge_rough.c: while the gap is wide, directions of a sparse block need not be exact. Prepares a
 * step by setting k->way; solves (9) for one right-hand side in place, false: it takes a float64
 * factor, and x is as it was. */
bool mgvi_hinge_may_be_rough(const mgvi_hinge_interior *k);
mgv_status mgvi_hinge_rough_open(mgv_ctx *ctx, mgvi_hinge_interior *k);
mgv_status mgvi_hinge_rough_solve(mgv_ctx *ctx, mgvi_hinge_interior *k, double *x, bool *solved);

/* hinge_step.c: one step; false: the system was not positive. */
mgv_status mgvi_hinge_step(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive);

/* hinge_face.c: tries the faces the present point suggests; keeps the exact point of one as the
 * best when it is better. */
mgv_status mgvi_hinge_try_faces(mgv_ctx *ctx, mgvi_hinge_interior *k, double gap, bool *exact);

/* Slack from which a row may rest, and that of one that comes back. */
#define MGVI_HINGE_CLEAR 0.05

/* hinge_rest.c: rows come to rest, and come back; where others were presumed to rest all along,
 * only those do. */
void mgvi_hinge_rest_rows(mgv_ctx *ctx, mgvi_hinge_interior *k);
/* The rows that were at rest in a smaller W, once the others are nearly solved: where many do not
 * stay the point goes back half of the way; false: it is to start anew. */
bool mgvi_hinge_check_presumed(mgv_ctx *ctx, mgvi_hinge_interior *k);
#endif
