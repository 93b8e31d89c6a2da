/* select/refit.h - the final fit of `debias` and `stable`: least squares on chosen columns, in
 * float64. */
#ifndef MGVI_SELECT_REFIT_H
#define MGVI_SELECT_REFIT_H

#include "select/selection.h"

/* MGV_E_ARG when the rule or the problem has no place for `debias` or `stable`. */
mgv_status mgvi_refit_check(const mgv_selection *s);
/* Whether the chosen point is debiased, or its columns are to be thinned out. */
bool mgvi_refit_wanted(const mgv_selection *s);
/* Fits the columns of the chosen point, or the stable ones among them; the solver's answer gets the
 * weights. */
mgv_status mgvi_refit(mgv_selection *s);
#endif
