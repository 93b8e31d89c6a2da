/* certify/judge.h - what the files of certify/ share. */
#ifndef MGVI_CERTIFY_JUDGE_H
#define MGVI_CERTIFY_JUDGE_H

#include "certify/certify.h"
#include "op/rows.h"

/* Sizes of the data's columns (certify/rounding.h). */
typedef struct mgvi_reach {
    double most;              /* of all entries */
    double *column, *centred; /* of every column, and less its centre; NULL: not looked at yet */
    double row_terms;         /* entries of the longest row */
    double col_terms;         /* numbers added one after the other to a column's sum */
    double scale, rows;       /* how far the columns' scales are off, relatively, and the rows' */
} mgvi_reach;

struct mgvi_judge {
    const mgv_problem *problem;
    mgvi_arena *arena; /* for what is only needed where rounding matters */
    mgvi_penalty penalty;
    double most;               /* the largest finite value of R */
    mgvi_rows *rows;           /* hard losses only */
    double radius;             /* largest |a_i|: the unit of a margin; 0: not asked for yet */
    double *lane;              /* a number for each lane */
    mgvi_vec z, u;             /* rows: A w; the feasible dual point */
    mgvi_vec v;                /* cols: A'u */
    mgvi_vec q, Aq;            /* rows: work space of the proof */
    mgvi_vec y, residual, dir; /* cols: work space of the proof */
    mgvi_vec weight;           /* cols: the same; sizes of the columns */
    double left;               /* |A'u| of the last u tried, at most, in the data's columns */
    bool compared;             /* equal examples were looked for */
    bool nearly;               /* the last u tried holds to rounding, but is not proven */
    mgvi_vec slope, slope_0;   /* cols: grad F at the w judged and at 0; only where there is an F */
    mgvi_vec blend;            /* cols: a point of R*'s domain, (11) */
    double height, height_0;   /* F* at these slopes */
    mgvi_reach reach;
    double point_scale;   /* mgvi_kernel_scale_error(), 0: not known yet */
    double at_zero;       /* sum s_i G_i(0): a soft (s G)* is nowhere below -s G(0) */
    double idle;          /* D(0), which no bound needs to be below */
    double repair;        /* what the w judged is to be multiplied with, to meet the margin */
    bool extended;        /* lengths with a kernel are wanted in extended precision */
    double shrunk;        /* what u has been multiplied with, to be in the domain of R* */
    double target;        /* (4d): what targets are measured from, 0 but for a closer look */
    double imbalance;     /* the dual point meant is u with some entries smaller by this part */
    double closed;        /* losses of many classes: what an entry is off, a part of it */
    mgvi_vec level;       /* rows: A 1, for penalties that do not see constants (level.c) */
    double level_error;   /* what an entry of it may be off */
    mgvi_care level_care; /* how it was computed */
    double *error;        /* lanes: of z */
    double *u_sum;        /* lanes: at least sum_i |u_i| */
    double shares; /* losses of many classes: sum_i s_i, what parts of rows are parts of; else 0 */
    struct mgvi_careful *careful; /* careful.c; NULL: not needed yet */
};

/* smooth.c: work space for F, its tangent at w, and the lower bound (11) of P from u, v = A'u;
 * scales u. */
mgv_status mgvi_judge_open_smooth(mgvi_judge *judge, mgvi_arena *arena);
void mgvi_judge_touch_smooth(mgvi_judge *judge, const mgvi_vec *w);
double mgvi_judge_smooth_bound(mgvi_judge *judge);

/* A value and how far rounding may have moved it; about what room left for rounding has cost it. */
typedef struct mgvi_rounded {
    double value, error, cost;
} mgvi_rounded;

/* dual.c: the sum of the judge's `lane` numbers; how many numbers the loops of backend/terms.h add
 * one after the other, at most; what a penalty of x is computed from; at_zero and idle; D(u). */
double mgvi_judge_sum_lanes(const mgvi_judge *judge, int32_t count);
double mgvi_terms_in_a_row(int64_t count);
/* How far R or R* of so many numbers may be off, relatively. */
double mgvi_penalty_error(const mgv_problem *p, int64_t count);
mgvi_vec mgvi_judge_seen(const mgv_problem *p, const mgvi_vec *x, double *length);
void mgvi_judge_open_bounds(mgvi_judge *judge);
mgvi_rounded mgvi_judge_dual_value(mgvi_judge *judge, mgvi_care care);

/* balance.c: scales the heavier side of u so that u is orthogonal to the intercept column (4), and
 * sets `imbalance` and `u_sum`. */
void mgvi_judge_balance(mgvi_judge *judge, mgvi_care care);

/* level.c: moves u to where the conjugate of a penalty that does not see constants is finite, and
 * intercepts agree; sets `imbalance`. */
mgv_status mgvi_judge_open_level(mgvi_judge *judge, mgvi_arena *arena);
void mgvi_judge_level(mgvi_judge *judge, mgvi_care care);

/* careful.c: products in twofold numbers, where the plain ones are not good enough: z of the
 * weights as saved and its error, v = A'u. False: there is no stored matrix, or no memory
 * (A->failed). */
bool mgvi_careful_scores(mgvi_judge *judge, const mgvi_vec *w, double *error);
bool mgvi_careful_columns(mgvi_judge *judge);
/* What mgvi_careful_columns() may be off in column j, in units of sum_i |u_i|. */
double mgvi_careful_part(const mgvi_judge *judge, int64_t j);
/* Whether A is a view over a stored matrix, which can be read carefully. */
bool mgvi_careful_can(const mgvi_judge *judge);
/* Reads every entry once: reach.column and reach.centred. */
bool mgvi_careful_reach(mgvi_judge *judge);
/* sum_i s_i G_i(z_i), or of the conjugates at u, over all lanes. */
double mgvi_careful_loss(const mgvi_judge *judge, bool conjugate);
/* dual.c: what the loss of row i, lane c is made from, its targets less judge->target. */
mgvi_coef mgvi_judge_coef(const mgvi_judge *judge, int64_t i, int32_t c);
/* The norm of the penalised columns of x. */
double mgvi_judge_norm(const mgvi_judge *judge, const mgvi_vec *x, double exponent);
/* Bounds of the margin, (5) and (6), from z = A w, w and from the balanced u, v = A'u, rounded
 * outwards; *rounding is by how much. `as_it_is`: the intercept of w is not moved. */
double mgvi_margin_lower(mgvi_judge *judge, const mgvi_vec *w, bool as_it_is, double *rounding);
double mgvi_margin_upper(mgvi_judge *judge, mgvi_care care, double *rounding);
/* No less than the length that was computed of coefficients x; with columns of its own: `length`.
 */
double mgvi_kernel_scale_error(mgvi_judge *judge); /* of the columns that points are made of */
double mgvi_kernel_length_above(mgvi_judge *judge, const mgvi_vec *x, double length);

/* classes.c: losses of many classes. Moves u within its domain so that its sum over the rows is 0
 * in every lane, which intercepts ask for; sets `imbalance`. */
void mgvi_judge_balance_classes(mgvi_judge *judge);
/* The same for dual weights of contrasts, which must be a circulation (op/class_graph.h). */
void mgvi_judge_balance_contrasts(mgvi_judge *judge);
/* How well z = A w tells the targets: the share of rows that are right, or the mean square. */
double mgvi_judge_train_score(const mgvi_judge *judge, bool as_it_is);
#endif
