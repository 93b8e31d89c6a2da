/* model/path.h - the models of the path a model was chosen from, as its file keeps them. */
#ifndef MGVI_MODEL_PATH_H
#define MGVI_MODEL_PATH_H

#include "data/tensors.h"
#include "select/selection.h"

/* Point k has weights index[t], value[t] for first[k] <= t < first[k + 1]; weight j of output o is
 * number o * features + j. All arrays but those three have `count` numbers, the intercepts one for
 * every output of each. No point has weights when they would be too many: `entries` is 0 then. */
typedef struct mgvi_model_path {
    int64_t count; /* 0: no path */
    int64_t outputs;
    int64_t entries;
    int64_t *first; /* count + 1 */
    int32_t *index;
    double *value, *intercept, *mu, *lambda, *iteration, *score, *score_se;
} mgvi_model_path;

mgv_status mgvi_model_path_copy(mgvi_arena *arena, const mgv_selection *selection,
                                mgvi_model_path *out);
enum { MGVI_PATH_TENSORS = 9 };
/* Fills `out` with the tensors of a path that is not empty. */
void mgvi_model_path_tensors(const mgvi_model_path *path, mgvi_tensor out[MGVI_PATH_TENSORS]);
/* An empty path when the file has none; MGV_E_INPUT when it is damaged. */
mgv_status mgvi_model_path_parse(mgvi_arena *arena, const char *file, const mgvi_tensors *tensors,
                                 int64_t outputs, int64_t features, mgvi_model_path *path);
#endif
