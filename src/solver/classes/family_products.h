/* solver/classes/family_products.h - members of a family with a kernel, whose products are made together.
 */
#ifndef MGVI_SOLVER_FAMILY_PRODUCTS_H
#define MGVI_SOLVER_FAMILY_PRODUCTS_H

#include "solver/classes/family.h"

/* Runs members that are not begun up to their goal, where their solver's step is one product with a
 * kernel's matrix (mgvi_product_ops) and that matrix is the same for all; else does nothing. The
 * judge's word is their own runs', which begin there and need no product for it. */
mgv_status mgvi_family_share_products(mgv_solver *head);
#endif
