import tilefoundry as tf
from tilefoundry.ir import tir
from tilefoundry.ir.tir import copy as move, fill as set_to, reduce
S = tf.DimVar('S', 1, 1 << 16)   ;   D = \
    tf.DimVar(
  "D"  ,
      1, 4096
)
WIDTH = 4 * D
eps = 1e-6
@tf.prim_func(target=tf.CudaTarget("nvidia.h200_sxm"),
              output_count=1,
              )
def rms_norm(x: tf.Tensor[(S, WIDTH), "bf16"], w: tf.ConstTensor[(WIDTH,), "bf16"],
             y: tf.Tensor[(S, WIDTH), "bf16"]) \
        -> None:
# a comment in the first column
    "One CTA a row." """ Said twice. """
    with (
        tf.Mesh((tf.Topology("cta", S),), tf.Layout((S,)), ("row",)) as g,  # a row
        (tf.Mesh((tf.Topology("thread", 256),), tf.Layout((8, 32)), ("warp", "lane"))) as m,
        # nothing more
    ):

      # two more columns only
      row = tir.coord(g.row)
      each = tir.spread(m, (256,), 1)
      total = tir.alloc_tensor(
        # shape
        tf.TensorType((1,), tf.DType.f32, tir.reduced(each, (256,), 0), tf.StorageKind.RMEM))
      def_ = tir.alloc_tensor(tf.TensorType(
          (256,), tf.DType.f32, each, tf.StorageKind.RMEM)); set_to(def_, 0.0)
      part = tir.alloc_tensor(tf.TensorType((256,), tf.DType.bf16, each, tf.StorageKind.RMEM)) ; wide = \
          tir.alloc_tensor(tf.TensorType((256,), tf.DType.f32, each, tf.StorageKind.RMEM))
      for j in range(0, WIDTH, 256):
       # one more
                    move(tir.tensor_view(x, row, j, shape=(256,), layout=each, clip=0.), part)
                    tir.unary(part, wide, kind="cast")
                    tir.fma(wide, \
                        wide,
  def_, def_)
      # back
      reduce(def_, total, axes=(0,), kind=tf.ReduceKind.SUM)
      if (tir.coord(m.lane)
          == 0): pass; pass
      elif tir.coord(m.warp) == 1:
        pass
      else: ...
      tir.binary(total, WIDTH, total, kind="div") ; tir.binary(total, eps, total, kind="add")
      tir.unary(total, total, kind="rsqrt")
      for j in range(0, WIDTH, 0x100):
        move(tir.tensor_view(x, row, j, shape=(256,), layout=each, clip=0), part)
        tir.unary(part, wide, kind="cast")
        tir.binary(wide, total, wide, kind='mul')
        tir.binary(wide, tir.tensor_view(w, j, shape=(256,), layout=each, clip=0), tir.tensor_view(
            y, row, j, shape=(256,), layout=each, clip=0,), kind=(tf.BinaryKind.MUL))
