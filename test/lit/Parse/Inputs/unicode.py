# -*- coding: utf-8 -*-
"""Größen, 大きさ, размеры: naïve — «non-ASCII» text in strings, comments and names. 🙂"""
from tilefoundry import *

breite = 64  # größe
Größe = breite * 2
α = 0.5
размер = Größe // 2
幅 = 'smem'
greeting = "ключ" "\u00e4\U0001f642" '🙂'


@prim_func(target=CudaTarget("sm_80"))
def größer(вход: Tensor[(Größe,), "f32"], выход: Tensor[(Größe,), "f32"]) -> None:  # 出力
    "Größer."
    with Mesh((Topology("thread", размер),), Layout((размер,)), ("поток",)) as сетка:
        части = T.spread(сетка, (Größe,), 2)
        значения = T.alloc_tensor(TensorType((Größe,), "f32", части, rmem))
        café = T.coord(сетка.поток)
        T.copy(T.tensor_view(вход, layout=части), значения, loc="größer.py:12 — «копия»")
        if café < breite:
            T.binary(значения, α, значения, kind="mul")
        T.copy(значения, T.tensor_view(выход, layout=части))
