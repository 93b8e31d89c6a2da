/* certify/judge.h - what the files of certify/ share. */
#ifndef MGVI_CERTIFY_JUDGE_H
#define MGVI_CERTIFY_JUDGE_H

#include "certify/certify.h"
#include "op/rows.h"

struct mgvi_judge {
    const mgv_problem *problem;
    mgvi_penalty penalty;
    double most;               /* the largest finite value of R */
    mgvi_rows *rows;           /* hard losses only */
    double radius;             /* largest |a_i|: the unit of a proof; 0: not asked for yet */
    double *lane;              /* a number for each lane */
    mgvi_vec z, u;             /* rows: A w; the feasible dual point */
    mgvi_vec v;                /* cols: A'u */
    mgvi_vec q, Aq;            /* rows: work space of the proof */
    mgvi_vec y, residual, dir; /* cols: work space of the proof */
    mgvi_vec slope, slope_0;   /* cols: grad F at the w judged and at 0; only where there is an F */
    mgvi_vec blend;            /* cols: a point of R*'s domain, (11) */
    double height, height_0;   /* F* at these slopes */
};

/* smooth.c: work space for F, its tangent at w, and the lower bound (11) of P from u, v = A'u;
 * scales u. */
mgv_status mgvi_judge_open_smooth(mgvi_judge *judge, mgvi_arena *arena);
void mgvi_judge_touch_smooth(mgvi_judge *judge, const mgvi_vec *w);
double mgvi_judge_smooth_bound(mgvi_judge *judge);

/* Scales the heavier side of u so that u is orthogonal to the intercept column (4). */
void mgvi_judge_balance(mgvi_judge *judge);
/* The norm of the penalised columns of x. */
double mgvi_judge_norm(const mgvi_judge *judge, const mgvi_vec *x, double exponent);
/* Bounds of the margin, (5) and (6), from z = A w, w and from the balanced u, v = A'u. */
double mgvi_margin_lower(mgvi_judge *judge, const mgvi_vec *w);
double mgvi_margin_upper(mgvi_judge *judge);

/* classes.c: losses of many classes. Moves u within its domain so that its sum over the rows is 0
 * in every lane, which the intercepts ask for. */
void mgvi_judge_balance_classes(mgvi_judge *judge);
/* The same for dual weights of contrasts, which must be a circulation (op/class_graph.h). */
void mgvi_judge_balance_contrasts(mgvi_judge *judge);
/* How many rows have their largest score in their own class. */
double mgvi_judge_right_classes(const mgvi_judge *judge);
/* The same share from differences of scores (op/contrast.h). */
double mgvi_judge_right_contrasts(const mgvi_judge *judge);
#endif
