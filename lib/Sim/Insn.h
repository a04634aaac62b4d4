/* The instruction table of the simulated device: one row per instruction form, split into families.
 *
 * How to add a family (or a row to one):
 *  1. Insn/Families.def: one line FAMILY(Name); CMake picks up Insn/Name.c by itself.
 *  2. Insn/Name.def: one INSN(opcode, modifiers, operands, isa, sm, class, flags, select) per form.
 *     modifiers: slots in the manual's order, alternatives by |, optional ones end in ?   "sat? s32"  "rn|rz? ftz? f32"
 *                A text may write them in any order, as ptxas reads them; types, state spaces and layouts keep their
 *                order among themselves. A slot that ends in ! belongs to the opcode and stands behind it: "lo! s32".
 *     operands:  d destination, s source, then a type: an index into the form's types (d0 s1) or a name (du32 sb64);
 *                w doubles the width (dw0), r lets the register be wider (dr0 sr0); D and S are brace lists (D0 Sb32);
 *                p for the type is a predicate (dp sp), e a list's element (De: the first type divided by
 *                the number of elements); m an address; i a constant; l a label; _ the sink `_`;
 *                h the cache policy, which stands there exactly if .L2::cache_hint does; A|B? a pair;
 *                a trailing ? makes it optional. Addresses and constants fill in->imm[0..2] in their order.
 *     isa, sm:   lowest PTX version (78 is 7.8) and target that have it; both checked at load. Modifiers that are younger
 *                than their row stand in Decode/Modifiers.def. A form that some targets learnt later than others has two
 *                rows; a module takes the one that it is new enough for.
 *     class:     what the counters call it. flags: TF_INSN_…
 *  3. Insn/Name.c: includes Insn/Lanes.h, defines the handlers and one `select` per row name, then TF_FAMILY(Name).
 *     select(form) looks at form->mods and form->types, may set form->in->aux, and returns the handler; null refuses the
 *     combination. A handler runs one warp instruction: loops over 32 lanes, writes only lanes in `mask`.
 *  4. test/unit/Sim: vectors against an independent evaluation. For arithmetic, Vectors.h makes them of the row: only the
 *     evaluation is left to write. unit.sim-coverage fails as long as a form has none, verify.ptx if ptxas refuses it.
 * Families are compiled once per CPU variant (baseline and AVX2, see CMakeLists.txt): everything in them is static. */
#ifndef TF_SIM_INSN_H
#define TF_SIM_INSN_H

#include "Sim/Ptx/Ast.h"

typedef struct tf_warp tf_warp;
typedef struct tf_insn tf_insn;
typedef struct tf_row tf_row;
typedef struct tf_func tf_func;
typedef void (*tf_handler)(tf_warp *w, const tf_insn *in, uint32_t mask);

/* An operand is an offset into one of the warp's banks: offset | bank. Lane-major: lane l of a 32-bit slot is at
 * offset + 4*l, of a 64-bit slot at offset + 8*l, of a 128-bit slot at offset + 16*l; a predicate is one 32-bit mask. */
enum { TF_BANK_REGS, TF_BANK_CONSTS, TF_BANK_SPECIAL };
enum { TF_INLINE_OPERANDS = 6, TF_IMMEDIATES = 3 };
#define TF_NO_OPERAND UINT32_MAX

typedef enum tf_insn_kind {
  TF_KIND_PLAIN,   /* falls through */
  TF_KIND_CONTROL, /* sets w->pc, w->resched … itself */
  TF_KIND_GATHER,  /* executes once all member lanes have arrived, then falls through */
  TF_KIND_LABEL,   /* (decoded only) no instruction: a place where lanes may meet */
} tf_insn_kind;

/* What an instruction reads and writes, the guard apart, for the init checker. */
typedef enum tf_use_kind {
  TF_USE_PLAIN, /* all of what it reads must be set; only registers are listed */
  TF_USE_MOVE,  /* the bytes of what it reads, one after another, become those of what it writes */
  TF_USE_BYTES, /* byte i of what it writes comes of the bytes from[i] of what it reads, or of constants */
} tf_use_kind;
typedef struct tf_use {
  uint32_t op; /* not of the frame: a constant; 0: nothing */
  uint32_t bytes;
} tf_use;
typedef struct tf_uses {
  uint8_t kind;
  uint16_t reads, count;
  uint16_t from[8]; /* bit i: byte i of the first operand; bit 8 + i: of the second */
  tf_use list[];    /* `reads` operands, then those written */
} tf_uses;

struct tf_insn {
  tf_handler run;
  const uint32_t *ext; /* all operands, flattened; the first six also in op[] */
  int64_t imm[TF_IMMEDIATES];
  uint32_t op[TF_INLINE_OPERANDS];
  uint32_t guard;      /* predicate operand or TF_NO_OPERAND */
  uint32_t guard_flip; /* all ones for @!p */
  uint32_t negate;     /* bit i: source predicate i is negated */
  uint32_t aux;        /* the family's own */
  uint32_t straight;   /* instructions from here on that fall through without a meeting point */
  uint32_t site;       /* index in the function */
  uint32_t line, loc;
  uint16_t op_count;
  uint8_t kind;
  uint8_t cls;
  uint8_t narrow; /* bit i: the i-th address has a 32-bit base register */
  uint8_t member; /* gather: operand number of the member mask, or 255: all live lanes */
  uint8_t space;  /* tf_space, of memory instructions */
  const tf_row *row;
  const tf_func *callee; /* direct calls */
  const void *data;      /* branch tables, call descriptors */
  const tf_uses *uses;
};

/* What `select` sees of a statement. */
enum { TF_FORM_MODS = 16, TF_FORM_TYPES = 6, TF_FORM_OPERANDS = 16 };
typedef struct tf_form {
  const tf_row *row;
  const char *mods[TF_FORM_MODS]; /* by slot of the pattern, null where an optional one is absent */
  unsigned slot_count;
  tf_type types[TF_FORM_TYPES]; /* the types among the modifiers, in order */
  unsigned type_count;
  unsigned first[TF_FORM_OPERANDS], count[TF_FORM_OPERANDS]; /* by operand of the pattern: its flattened operands */
  unsigned operand_count;
  const uint8_t *width; /* bytes of each flattened operand's register or constant */
  tf_insn *in;
  const char *refusal; /* select may say why it returns null */
} tf_form;

/* True when the modifier stands on the instruction. */
bool tf_form_has(const tf_form *form, const char *mod);
/* Index of slot's modifier in a null-terminated list, or -1. */
int tf_form_pick(const tf_form *form, unsigned slot, const char *const *list);

typedef enum tf_class {
  TF_CLASS_INT,
  TF_CLASS_FLOAT,
  TF_CLASS_DOUBLE,
  TF_CLASS_HALF,
  TF_CLASS_CONVERT,
  TF_CLASS_MOVE,
  TF_CLASS_MEMORY,
  TF_CLASS_ATOMIC,
  TF_CLASS_CONTROL,
  TF_CLASS_BARRIER,
  TF_CLASS_WARP,
  TF_CLASS_MATRIX,
  TF_CLASS_COPY,
  TF_CLASS_SPECIAL,
  TF_CLASS_COUNT
} tf_class;

enum {
  TF_INSN_CONTROL = 1, /* kind control */
  TF_INSN_GATHER = 2,  /* kind gather; the member mask is the operand marked M, else all live lanes */
  TF_INSN_GLOBAL = 4,  /* may order memory between CTAs: the launch then runs on one worker */
  TF_INSN_CALL = 8,    /* operands are decoded as a call */
  TF_INSN_BRX = 16,    /* operands are decoded as an indexed branch */
  TF_INSN_MEET = 32,   /* gather without data: members may be at other such instructions (bar.warp.sync) */
  TF_INSN_UNSYNC = 64, /* collective without .sync: sm_70 and younger have it up to PTX 6.3 only */
  TF_INSN_EXACT = 128, /* of one architecture: the target must end in 'a' */
  TF_INSN_KIN = 256,   /* younger targets lack it: the target must be of the row's family, as sm_103 is of sm_100's */
};

struct tf_row {
  const char *opcode, *mods, *operands;
  uint16_t isa, sm;
  uint8_t cls;
  uint16_t flags;
  tf_handler (*select)(tf_form *form);
};

typedef struct tf_family {
  const char *name;
  const tf_row *rows;
  size_t count;
} tf_family;

/* Families of the variant that suits this CPU, or of the baseline; null-terminated. */
const tf_family *const *tf_families(bool baseline);

/* Sets of modifiers that many rows share. */
#define TF_RND      "rn|rz|rm|rp"
#define TF_SCOPE    "cta|cluster|gpu|sys"
#define TF_WRITABLE "global|shared|shared::cta|shared::cluster|local|param|param::func"

#endif
