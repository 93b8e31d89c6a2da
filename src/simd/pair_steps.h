/* simd/pair_steps.h - pair_step and pair_partner of simd.h; T and NAME say for which type of matrix,
 * once for each. */

static int64_t NAME(pair_step)(const T *row_i, const T *row_j, double t, double *v,
                               const double *up, const double *down, int64_t n, double *largest,
                               double *least)
{
    const vec step = v_set(t);
    vec most = v_set(-INFINITY), low = v_set(INFINITY);
    vec place = v_set(-1), here = first_places();
    for (int64_t k = 0; k < n; k += W, here += W) {
        vec x = v_load_f64(v + k);
        x -= step * (NAME(v_load)(row_i + k) - NAME(v_load)(row_j + k));
        memcpy(v + k, &x, sizeof x);
        const vec a = x + v_load_f64(up + k), b = x + v_load_f64(down + k);
        const vbits larger = a > most;
        most = v_pick(larger, a, most);
        place = v_pick(larger, here, place);
        low = v_pick(b < low, b, low);
    }
    double lowest = INFINITY;
    for (int l = 0; l < W; l++)
        lowest = low[l] < lowest ? low[l] : lowest;
    *least = lowest;
    return first_largest(most, place, largest);
}

static int64_t NAME(pair_partner)(const T *row, const double *v, const double *down,
                                  const double *diagonal, double vi, double qi, double floor,
                                  int64_t n)
{
    const vec top = v_set(vi), own = v_set(qi), tiny = v_set(floor);
    const vec zero = v_set(0);
    vec most = v_set(-INFINITY), place = v_set(-1), here = first_places();
    for (int64_t k = 0; k < n; k += W, here += W) {
        const vec d = top - (v_load_f64(v + k) + v_load_f64(down + k));
        vec q = own + v_load_f64(diagonal + k) - 2 * NAME(v_load)(row + k);
        q = v_pick(q > tiny, q, tiny);
        const vec gain = d * d / q;
        const vbits better = (d > zero) & (gain > most);
        most = v_pick(better, gain, most);
        place = v_pick(better, here, place);
    }
    double largest;
    return first_largest(most, place, &largest);
}
