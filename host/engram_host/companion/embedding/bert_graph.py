"""Writes the encoder of BERT as an ONNX graph: ONNX's own text form, and the weights by their names.

The words' vectors are looked up before, so the graph lacks that table, the largest part of a model.
`words` is padded at its end, attention looks at the first `lengths` tokens, and `shares` is
1/length for these and 0 for the rest: their mean.

Dense layers multiply whole numbers. Each token has a scale of its own, so a text's vector does not
depend on the texts beside it. Weights have 7 bits and a scale for each column: processors without
VNNI add two products in 16 bits, where 8 bits would overflow.
"""

from collections.abc import Iterator
from string import Template

import numpy as np
from onnx import TensorProto, numpy_helper, parser

from engram_host.companion.embedding.local_model import POSITIONS, Array, ModelParts

# IR version 10 belongs to onnxruntime 1.22, the oldest supported; com.microsoft has its fused operators.
_GRAPH = Template("""
<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1, "engram": 1]>
encoder (float[texts, tokens, $width] words, int32[texts] lengths, float[texts, 1, tokens] shares)
    => (float[texts, $width] vectors)
{
    shape = Shape (words)
    flat = Constant <value = int64[2] {-1, $width}> ()
    one = Constant <value = int64[1] {1}> ()
    zero = Constant <value = int64[1] {0}> ()
    longest = Shape <start = 1, end = 2> (words)
    places = Slice ("$positions", zero, longest)
    hidden = Add (words, places)
    normal = LayerNormalization <axis = -1, epsilon = 1e-12>
        (hidden, "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias")
    x0 = Reshape (normal, flat)
    $layers
    last = Reshape (x$count, shape)
    means = MatMul (shares, last)
    vectors = Squeeze (means, one)
}
<domain: "engram", opset_import: ["": 20, "com.microsoft": 1]>
round (x) => (rows, scale)
{
    axis = Constant <value = int64[1] {-1}> ()
    size = Abs (x)
    most = ReduceMax <keepdims = 1> (size, axis)
    least = Constant <value = float {1e-9}> ()
    scale = Max (most, least)
    unit = Div (x, scale)
    step = Constant <value = float {$step}> ()
    middle = Constant <value = uint8 {128}> ()
    rows = QuantizeLinear (unit, step, middle)
}
<domain: "engram", opset_import: ["": 20, "com.microsoft": 1]>
dense (rows, scale, weight, weight_scale) => (y)
{
    step = Constant <value = float {$step}> ()
    middle = Constant <value = uint8 {128}> ()
    product = com.microsoft.MatMulIntegerToFloat (rows, weight, step, weight_scale, middle)
    y = Mul (product, scale)
}
""")

_LAYER = Template("""
    rows$n, scale$n = engram.round (x$n)
    q$n = engram.dense (rows$n, scale$n, "$l.attention.self.query.weight", "$l.attention.self.query.scale")
    k$n = engram.dense (rows$n, scale$n, "$l.attention.self.key.weight", "$l.attention.self.key.scale")
    v$n = engram.dense (rows$n, scale$n, "$l.attention.self.value.weight", "$l.attention.self.value.scale")
    query$n = Reshape (q$n, shape)
    key$n = Reshape (k$n, shape)
    value$n = Reshape (v$n, shape)
    bias$n = Concat <axis = 0>
        ("$l.attention.self.query.bias", "$l.attention.self.key.bias", "$l.attention.self.value.bias")
    attention$n = com.microsoft.MultiHeadAttention <num_heads = $heads>
        (query$n, key$n, value$n, bias$n, lengths)
    mixed$n = Reshape (attention$n, flat)
    mixed_rows$n, mixed_scale$n = engram.round (mixed$n)
    out$n = engram.dense
        (mixed_rows$n, mixed_scale$n, "$l.attention.output.dense.weight", "$l.attention.output.dense.scale")
    inner$n = com.microsoft.SkipLayerNormalization <epsilon = 1e-12>
        (out$n, x$n, "$l.attention.output.LayerNorm.weight", "$l.attention.output.LayerNorm.bias",
         "$l.attention.output.dense.bias")
    inner_rows$n, inner_scale$n = engram.round (inner$n)
    wide$n = engram.dense
        (inner_rows$n, inner_scale$n, "$l.intermediate.dense.weight", "$l.intermediate.dense.scale")
    biased$n = Add (wide$n, "$l.intermediate.dense.bias")
    gelu$n = Gelu (biased$n)
    wide_rows$n, wide_scale$n = engram.round (gelu$n)
    narrow$n = engram.dense (wide_rows$n, wide_scale$n, "$l.output.dense.weight", "$l.output.dense.scale")
    x$next = com.microsoft.SkipLayerNormalization <epsilon = 1e-12>
        (narrow$n, inner$n, "$l.output.LayerNorm.weight", "$l.output.LayerNorm.bias", "$l.output.dense.bias")
""")

_TOP_WEIGHT = 63
_TOP_ROW = 127


def build_graph(parts: ModelParts) -> bytes:
    layers = [
        _LAYER.substitute(n=n, next=n + 1, l=f"encoder.layer.{n}", heads=parts.heads) for n in range(parts.layers)
    ]
    text = _GRAPH.substitute(
        layers="".join(layers), count=parts.layers, width=parts.words.width, positions=POSITIONS, step=1 / _TOP_ROW
    )
    model = parser.parse_model(text)
    for name, value in parts.read_weights():
        model.graph.initializer.extend(_tensors(name, value))
    return model.SerializeToString()


def _tensors(name: str, value: Array) -> Iterator[TensorProto]:
    """Yield a weight as it is, or a dense layer's table as whole numbers with their scale."""
    if value.ndim == 1 or name == POSITIONS:
        yield numpy_helper.from_array(value, name)
        return
    scale = np.abs(value).max(axis=1) / np.float32(_TOP_WEIGHT)
    scale[scale == 0] = 1
    whole = np.rint(value.T / scale).astype(np.int8)
    yield numpy_helper.from_array(np.ascontiguousarray(whole), name)
    yield numpy_helper.from_array(scale, f"{name.removesuffix('weight')}scale")
