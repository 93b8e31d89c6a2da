/* registry.c - everything registered, in one list. */
#include "base/presets.h"
#include "io/io.h"
#include "simd/simd.h"
#include "solver/solver_impl.h"
#include "stop/stop.h"

/* One kind: how many there are, and the name and summary of each. */
typedef struct kind {
    const char *name;
    int (*count)(void);
    mgv_entry (*at)(int index);
} kind;

#define KIND(NAME, TYPE, AT)                                                                       \
    static mgv_entry NAME##_entry(int index)                                                       \
    {                                                                                              \
        const TYPE *e = AT(index);                                                                 \
        return (mgv_entry){.name = e->name, .summary = e->summary};                                \
    }
KIND(loss, mgvi_loss_ops, mgvi_loss_at)
KIND(penalty, mgvi_penalty_ops, mgvi_penalty_at)
KIND(solver, mgvi_solver_ops, mgvi_solver_at)
KIND(preset, mgvi_preset, mgvi_preset_at)
KIND(stop, mgvi_stop_rule, mgvi_stop_at)
KIND(operator, mgvi_op_ops, mgvi_operator_at)
KIND(reader, mgvi_reader, mgvi_reader_at)
KIND(writer, mgvi_writer, mgvi_writer_at)

/* There is one backend until src/backend/list.h has a second. */
static int backend_count(void) { return 1; }

static mgv_entry backend_entry(int index)
{
    (void)index;
    return (mgv_entry){.name = "cpu", .summary = "memory, threads and the SIMD kernels below"};
}

static mgv_entry simd_entry(int index)
{
    return (mgv_entry){.name = mgvi_simd_at(index)->name,
                       .summary = index ? "kernels this machine can run" : "reference kernels"};
}

static const kind kinds[] = {
    {"loss", mgvi_loss_count, loss_entry},       {"penalty", mgvi_penalty_count, penalty_entry},
    {"solver", mgvi_solver_count, solver_entry}, {"preset", mgvi_preset_count, preset_entry},
    {"stop", mgvi_stop_count, stop_entry},       {"operator", mgvi_operator_count, operator_entry},
    {"reader", mgvi_reader_count, reader_entry}, {"writer", mgvi_writer_count, writer_entry},
    {"backend", backend_count, backend_entry},   {"simd", mgvi_simd_count, simd_entry}};
enum { KINDS = sizeof kinds / sizeof *kinds };

size_t mgv_registry_count(void)
{
    size_t total = 0;
    for (int k = 0; k < KINDS; k++)
        total += (size_t)kinds[k].count();
    return total;
}

mgv_status mgv_registry_at(size_t index, mgv_entry *out)
{
    for (int k = 0; k < KINDS; k++) {
        const size_t count = (size_t)kinds[k].count();
        if (out && index < count) {
            mgv_entry entry = kinds[k].at((int)index);
            entry.kind = kinds[k].name;
            mgvi_copy_out(out, &entry, sizeof entry);
            return MGV_OK;
        }
        index -= count;
    }
    return MGV_E_ARG;
}
