"""A tiled product in a module of its own: class body, entry, host code, static helpers, every form of a call."""


from tilefoundry import *
from tilefoundry import T as t, module as tile_module

M = DimVar("M", 1, 1 << 16)


@tile_module(
    entry=(
        "r"
        'un'
    ),
    target=CudaTarget(
        "sm_80"
    ),
)
class Gemm:
    """
    C = A @ B, one CTA per 64 x 64 block.

        indented text in a docstring
  less indented text
    """

    BM = 64;  BN = BM
    BK = (BM if BM < BN else BN) // 2
    K = 2 * BK; N = 2 ** 7
    tile = t.cuda.mma.tile(t.cuda.mma.atom(op="SM80_16x8x16_F32BF16BF16F32_TN"), (BM, BN, BK), (2, 2))

    @prim_func
    def product(a: Tensor[(64 * M, K), DType.bf16], b: Tensor[(K, N), DType.bf16], c: Tensor[(64 * M, N), "f32"],) -> None:
        """A docstring."""; ...
        with Mesh((Topology("cta", M * (N // BN)),), Layout((M, N // BN)), ("m", "n")) as grid, tile.required_scope as block:
            a_tile = t.alloc_tensor(TensorType(shape=(BM, BK), dtype="bf16", storage="smem"))
            b_tile = t.alloc_tensor(TensorType(shape=[BK, BN], dtype="bf16", storage="smem"))
            acc = t.alloc_tensor(TensorType((BM, BN), "f32", tile.C, "rmem"))
            fill(acc, 0); row = T.coord(grid, 0) * BM; col = T.coord(grid, -1 + 2) * BN
            for k in range(0, K, BK):
                copy_(T.tensor_view(a, row, k, shape=(BM, BK), layout=T.spread(block, (BM, BK), 8)),
                      T.tensor_view(a_tile, layout=T.spread(block, (BM, BK), 8)))
                T.copy(destination=T.tensor_view(b_tile, layout=T.spread(block, (BK, BN), 8)),
                       source=T.tensor_view(b, k, col, shape=(BK, BN), layout=T.spread(block, (BK, BN), 8)))
                T.sync(mesh=block)
                T.mma(acc, a_tile, b_tile, atom=tile); T.sync(block)
            T.copy(acc, T.tensor_view(c, row, col, shape=(BM, BN)))
    @prim_func(target=CpuTarget())
    def run(a: Tensor[(64 * M, K), DType.bf16], b: Tensor[(K, N), DType.bf16], c: Tensor[(64 * M, N), "f32"]):
        launch(product, a, b, c, grid=(M, 2), block=(32, 4, 1))
