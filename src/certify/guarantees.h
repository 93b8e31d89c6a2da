/* certify/guarantees.h - what is proven before a run, and of how far weights are from the best;
 * docs/algorithms/mirror_coordinate.md, "What is proven".
 *
 * D is the dual of min psi(w) over constraints, without 1/n, b its best point, t counts rows drawn
 * uniformly from n, L_i as in (6) of that page, R = max |a_i|_q. Expected values. */
#ifndef MGVI_CERTIFY_GUARANTEES_H
#define MGVI_CERTIFY_GUARANTEES_H

#include <stdint.h>

/* D* - D(0), and sum_i L_i b_i^2. */
typedef struct mgvi_start_distance {
    double gap, square;
} mgvi_start_distance;

/* The same, at most, of a hard margin that is at least `margin` > 0, where every L_i is at most `most`:
 * D* = 1/(2 gamma^2), and sum_i b_i = 1/gamma^2. */
mgvi_start_distance mgvi_margin_start(double margin, double most);
/* The most mistakes that the perceptron makes, of (q - 1) |a_i|_q^2 at most `most`. */
double mgvi_most_mistakes(double margin, double most);

/* |w - w*|_p for a gap of primal or dual value, psi strongly convex by `strength` in |.|_p:
 * p - 1 for |.|_p^2/2, lambda for lambda/2 |.|_2^2. */
double mgvi_distance_of_gap(double gap, double strength);

/* D* - D after t steps of coordinate ascent and of its accelerated form. */
double mgvi_gap_after(double n, double t, const mgvi_start_distance *at);
double mgvi_gap_after_accelerated(double n, double t, const mgvi_start_distance *at);

/* The least t after which accelerated ascent makes no mistake on its rows: R |w - w*|_p <= 1. */
double mgvi_steps_without_mistakes(double n, double radius, double strength,
                                   const mgvi_start_distance *at);

/* The share of rows that the mean of mirror descent on squared distances, or on hinges with the best
 * constant step, still gets wrong after t steps: |w*|_p R/sqrt((p - 1) t); and the t after which it
 * is below 1/n. */
double mgvi_share_of_mistakes(double norm, double radius, double strength, double t);
double mgvi_steps_of_share(double norm, double radius, double strength, double share);
#endif
