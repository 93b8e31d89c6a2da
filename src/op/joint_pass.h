/* op/joint_pass.h - one sweep over a dense matrix for a loss of many classes, or for the curvature
 * of many problems over the same rows: scores, slopes and gradient of a few rows at a time while
 * they are in the cache, in float32 with sums of 256 rows added up in float64. Half the memory
 * traffic of A w and A'u one after the other, and no vector of rows x lanes. Rounding is about 1e-6
 * of the result: judges and last digits use the operator. */
#ifndef MGVI_OP_JOINT_PASS_H
#define MGVI_OP_JOINT_PASS_H

#include "backend/joint_terms.h"
#include "op/float_rows.h"

typedef struct mgvi_joint_pass mgvi_joint_pass;

/* NULL in *out where there is nothing to gain: another operator than a (view over a) dense matrix.
 * `c` are the loss's coefficients. All of it is borrowed, and the work space is the arena's. */
mgv_status mgvi_joint_pass_new(mgvi_arena *arena, mgvi_op *op, const mgvi_loss_ops *loss,
                               const mgvi_coefs *c, int32_t lanes, mgvi_joint_pass **out);
/* sum_i s_i G(A w), and g = A'U with the slopes U. Counted in op->touched as two products. */
double mgvi_joint_pass_run(mgvi_joint_pass *pass, const mgvi_vec *w, mgvi_vec *g);
/* The slopes U at w. */
void mgvi_joint_pass_slopes(mgvi_joint_pass *pass, const mgvi_vec *w, mgvi_vec *u);

/* The same sweep for curvatures: no loss, and signs of rows are none of its concern. */
mgv_status mgvi_curve_pass_new(mgvi_arena *arena, mgvi_op *op, int32_t lanes,
                               mgvi_joint_pass **out);
/* g = A' diag(h) A w, h and w of every lane; 0 in lanes that are not `on` (NULL: all are). */
void mgvi_curve_pass_run(mgvi_joint_pass *pass, const bool *on, const mgvi_vec *h,
                         const mgvi_vec *w, mgvi_vec *g);
/* g = A'J A w, J_i = diag(h_i) - h_i h_i'/sum_j h_ij, h rows x lanes: those are classes of one
 * loss. */
void mgvi_couple_pass_run(mgvi_joint_pass *pass, const double *h, const mgvi_vec *w, mgvi_vec *g);
#endif
