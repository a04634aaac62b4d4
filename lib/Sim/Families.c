/* Which build of the instruction families this CPU runs; see Insn.h and CMakeLists.txt. */
#include "Sim/Insn.h"

#define FAMILY(name) extern const tf_family tf_family_##name##_base;
#include "Sim/Insn/Families.def"
#undef FAMILY

static const tf_family *const base[] = {
#define FAMILY(name) &tf_family_##name##_base,
#include "Sim/Insn/Families.def"
#undef FAMILY
    NULL};

#ifdef TF_SIM_HAVE_V3
#define FAMILY(name) extern const tf_family tf_family_##name##_v3;
#include "Sim/Insn/Families.def"
#undef FAMILY

static const tf_family *const v3[] = {
#define FAMILY(name) &tf_family_##name##_v3,
#include "Sim/Insn/Families.def"
#undef FAMILY
    NULL};
#endif

const tf_family *const *tf_families(bool baseline) {
  if (baseline) return base;
#ifdef TF_SIM_HAVE_V3
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return v3;
#endif
  return base;
}
