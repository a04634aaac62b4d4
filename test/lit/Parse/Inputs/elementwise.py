#!/usr/bin/env python3
# -*- coding: utf-8 -*-
r"""Element-wise kernels, in the ways in which literals can be written.

A backslash \d of a raw docstring means nothing, and neither does a "quote" or a line that ends with one: \
"""
from __future__ import annotations

import math, os.path as osp
import tilefoundry
import tilefoundry as tf
from tilefoundry import (
    BinaryKind,
    CudaTarget,  # the architecture
    DType, Layout as L,
    Mesh,
    StorageKind as Storage,

    Tensor,
    TensorType,
    Topology, UnaryKind, prim_func,
)
from tilefoundry import T
from . import helpers
from ..kernels.common import tiles as _tiles, sizes
from numpy import *

__all__ = ["axpy", "gelu", 'literals']
__version__ = "1." '0' """.2"""

# Integers
N = 1_024
HEX = 0xFf_0
BIN = 0b1010_1010,
OCT = 0o17
ZERO = 00_0
MINUS = -N
BIG = 0xFFFF_FFFF_FFFF_FFFF
# Floats
ALPHA = 1.5
SMALL = 1e-5; TINY = 1.e-4_5; LARGE = 1_0.2_5E+1_0
HALF = .5
WHOLE = 10.
INF = float('inf')
NEG_INF = -float("infinity")
NAN = float("nan")
# Strings
A = 'single'
B_ = "double"
C = '''triple
over lines'''
D = """another "one" \
joined"""
E = r'raw\n' R"\x" u'unicode' U"\u2022" r'''a'b\ '''
F = "escapes \\ \' \" \a\b\f\n\r\t\v \101 \x41 \u00e9 \U0001F600 \
end"
# Others
NOTHING = None; YES = True; NO = False
EMPTY = ()
ONE = (1,)
NESTED = ((1, 2,), [3, 4], (5), (), [])
LOGIC = YES and not NO or NOTHING is None
CHAIN = 1 < 2 <= 3 != 4 == 4 > 3 >= 2
MEMBER = 3 in (1, 2, 3) and 4 not in [1, 2, 3]
CHOICE = HEX if CHAIN else BIN
POWER = 2 ** 3 ** 2 // 7 % 5 + (-2) ** 2 - +1 << 3 >> 1 & 0xFF | 1 ^ 2
FLOOR = (-7 // 2, -7 % 3, 7 // -2, 7 % -3, ~5)

threads = Mesh((Topology("thread", 128),), L((128,)), ("t",))


@prim_func(target=CudaTarget("sm_80"))
def axpy(
    x: Tensor[(N,), "f32"],
    y: Tensor[(N,), DType.f32, None, Storage.GMEM],  # in and out
    a: Tensor[(), 'f32'],
) -> None:
    '''y += a * x'''
    with threads as m:
        own = T.spread(m, (N,), 4)
        r = T.alloc_tensor(TensorType(shape=(N,), dtype=DType.f32, layout=own, storage=Storage.RMEM,),)
        s = T.alloc_tensor(TensorType((N,), 'f32', own, "rmem"))
        T.copy(T.tensor_view(x, layout=own), r); T.copy(T.tensor_view(y, layout=own), s)
        T.fma(a, r, s, s);
        T.copy(s, T.tensor_view(y, layout=own))
