# RUN: %python %s
"""bench/codegen.py reads cuobjdump's listings: instructions per product of the hot loop, branches by address, predicates aside."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import codegen

LISTING = """
        code for sm_80
                Function : product
        .headerflags    @"EF_CUDA_SM80 EF_CUDA_PTX_SM(EF_CUDA_SM80)"
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;              /* 0x00000a00ff017624 */
                                                                                        /* 0x000fe400078e00ff */
        /*0010*/                   LDSM.16.M88.4 R4, [R2] ;                             /* 0x000000000204783b */
        /*0020*/                   HMMA.16816.F32.BF16 R8, R4, R12, R8 ;                /* 0x0000000c0408723c */
        /*0030*/                   HMMA.16816.F32.BF16 R16, R4, R14, R16 ;              /* 0x0000000e0410723c */
        /*0040*/                   IADD3 R3, R3, 0x1, RZ ;                              /* 0x0000000103037810 */
        /*0050*/                   ISETP.NE.AND P0, PT, R3, c[0x0][0x178], PT ;         /* 0x00005e0003007a0c */
        /*0060*/              @P0 BRA 0x10 ;                                            /* 0xffffffa000000947 */
        /*0070*/              @!P1 BRA 0x90 ;                                           /* 0x0000000000009947 */
        /*0080*/                   STG.E.64 [R6.64], R8 ;                               /* 0x0000000806007986 */
        /*0090*/                   EXIT ;                                               /* 0x000000000000794d */
        /*00a0*/                   BRA 0xa0;                                            /* 0xfffffff000007947 */
"""
assert codegen.sass_loop(LISTING) == 3.0, codegen.sass_loop(LISTING)  # six instructions, two products
assert codegen.sass_loop(LISTING.replace("@P0 BRA 0x10", "@P0 EXIT")) == 5.5  # no loop: all eleven
assert codegen.sass_loop(LISTING.replace("HMMA", "FFMA")) == "-"
