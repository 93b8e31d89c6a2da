/* certify/correct.h - from dual weights that nearly combine the rows to 0 to some that do, up to
 * rounding. All of it is about judge->u. */
#ifndef MGVI_CERTIFY_CORRECT_H
#define MGVI_CERTIFY_CORRECT_H

#include "certify/judge.h"

#define MGVI_NEARLY 1e-12 /* of a column's size: zero up to rounding */

/* Takes judge->q = |u| and sizes of the columns from it, for the two below. */
void mgvi_proof_weigh(mgvi_judge *judge);
/* |A'u| in columns of those sizes. */
double mgvi_proof_residual(mgvi_judge *judge);
/* A'u = 0 up to rounding, in the signs u has; at most so many steps of conjugate gradients, a few
 * times. False: it does not come to that. */
bool mgvi_proof_correct(mgvi_judge *judge, int most_steps);
/* Brings u into the domain of the conjugates and to sum |u_i| = 1; the largest change is at most
 * `slack` times the largest u_i, or it is no proof. */
bool mgvi_proof_clip(mgvi_judge *judge, double slack);
/* Drops weights that are no more than this part of the largest; false: there are none. */
bool mgvi_proof_drop(mgvi_judge *judge, double part);
#endif
