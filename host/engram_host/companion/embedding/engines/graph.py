"""Writes the encoder of BERT as an ONNX graph, from the weights that the numpy encoder has as well.

    hidden (texts, tokens, width), lengths (texts), shares (texts, 1, tokens)  ->  vectors (texts, width)

The words' vectors are looked up before, so the graph is without that table, the largest part of a model. `hidden` is padded at
its end, attention looks at the first `lengths` tokens, and `shares` has 1/length for these and 0 for the rest: their mean.

In 8 bits the dense layers multiply whole numbers. A row of the left side, a token, has a scale of its own, so a text's vector
does not depend on the texts beside it. Weights have 7 bits and a scale for each column: processors without VNNI add two
products in 16 bits, and 8 bits would overflow there, silently; so all processors give the same numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engram_host.companion.embedding.engines.engine import Precision
from engram_host.companion.embedding.transformer import layer_count

_FUSED = "com.microsoft"
"""Where onnxruntime's own operators are: several steps in one pass."""

_OPSETS = (("", 20), (_FUSED, 1))
_IR_VERSION = 10
"""That of onnxruntime 1.22, the oldest that is used."""

_EPSILON = 1e-12
_TOP_WEIGHT = 63
_TOP_ROW = 127
_MIDDLE = 128
"""Rows are kept as unsigned bytes, this one being zero, for which there are faster kernels."""

_LEAST_ROW = 1e-9
"""A row of zeros is divided by this."""


def build_graph(weights: Mapping[str, Any], heads: int, precision: Precision) -> bytes:
    """The graph of a model; KeyError if a weight is missing."""
    return _Builder(weights, heads, precision).build()


class _Builder:
    """One graph while it is written: each method adds nodes and gives the name of the last one's output."""

    def __init__(self, weights: Mapping[str, Any], heads: int, precision: Precision):
        self._weights = weights
        self._heads = heads
        self._is_int8 = precision == "int8"
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._width = len(weights["embeddings.LayerNorm.weight"])

    def build(self) -> bytes:
        self._node("Shape", ["hidden"], "shape")
        self._constant("flat", np.array([-1, self._width], np.int64))
        norm = [*self._norm_constants("embeddings.LayerNorm")]
        x = self._node("LayerNormalization", ["hidden", *norm], "normal", axis=-1, epsilon=_EPSILON)
        x = self._node("Reshape", [x, "flat"], "embedded")
        for layer in range(layer_count(self._weights)):
            x = self._layer(f"encoder.layer.{layer}.", x)
        self._node("Reshape", [x, "shape"], "last")
        self._node("MatMul", ["shares", "last"], "means")
        self._node("Squeeze", ["means", self._constant("one", np.array([1], np.int64))], "vectors")
        return self._finished().SerializeToString()

    def _finished(self) -> onnx.ModelProto:
        inputs = [
            helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["texts", "tokens", self._width]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["texts"]),
            helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["texts", 1, "tokens"]),
        ]
        outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", self._width])]
        graph = helper.make_graph(self._nodes, "encoder", inputs, outputs, list(self._constants.values()))
        opsets = [helper.make_opsetid(*opset) for opset in _OPSETS]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="engram")

    def _layer(self, layer: str, x: str) -> str:
        rows = self._rows(x)
        parts = [
            self._node("Reshape", [self._product(rows, f"{layer}attention.self.{part}"), "shape"], f"{layer}{part}")
            for part in ("query", "key", "value")
        ]
        bias = np.concatenate([self._read(f"{layer}attention.self.{part}.bias") for part in ("query", "key", "value")])
        inputs = [*parts, self._constant(f"{layer}attention.bias", bias), "lengths"]
        mixed = self._fused("MultiHeadAttention", inputs, f"{layer}mixed", num_heads=self._heads)
        mixed = self._node("Reshape", [mixed, "flat"], f"{layer}flat")
        x = self._with_skip(mixed, x, f"{layer}attention.output.")
        wide = self._product(self._rows(x), f"{layer}intermediate.dense", has_bias=True)
        return self._with_skip(self._node("Gelu", [wide], f"{layer}gelu"), x, f"{layer}output.")

    def _with_skip(self, x: str, skip: str, prefix: str) -> str:
        """A dense layer of `x`, `skip` added, brought to mean 0 and deviation 1."""
        product = self._product(self._rows(x), f"{prefix}dense")
        norm = self._norm_constants(f"{prefix}LayerNorm")
        bias = self._constant(f"{prefix}dense.bias", self._read(f"{prefix}dense.bias"))
        inputs = [product, skip, *norm, bias]
        return self._fused("SkipLayerNormalization", inputs, f"{prefix}normal", epsilon=_EPSILON)

    def _rows(self, x: str) -> Sequence[str]:
        """The left side of products: `x` itself, or its rows as whole numbers, and what a row is to be multiplied with."""
        if not self._is_int8:
            return (x,)
        axis = self._constant("axis", np.array([-1], np.int64))
        most = self._node("ReduceMax", [self._node("Abs", [x], f"{x}.abs"), axis], f"{x}.most", keepdims=1)
        scale = self._node("Max", [most, self._constant("least", np.float32(_LEAST_ROW))], f"{x}.scale")
        unit = self._node("Div", [x, scale], f"{x}.unit")
        step = self._constant("step", np.float32(1 / _TOP_ROW))
        middle = self._constant("middle", np.uint8(_MIDDLE))
        return self._node("QuantizeLinear", [unit, step, middle], f"{x}.rows"), scale

    def _product(self, rows: Sequence[str], name: str, *, has_bias: bool = False) -> str:
        """rows @ weight, and the bias added if it is not left to the next operator."""
        weight = self._read(f"{name}.weight").T
        bias = self._constant(f"{name}.bias", self._read(f"{name}.bias")) if has_bias else ""
        if not self._is_int8:
            inputs = [*rows, self._constant(f"{name}.weight", weight)]
            return self._node("Gemm", [*inputs, bias], name) if has_bias else self._node("MatMul", inputs, name)
        product = self._whole_product(rows[0], weight, name)
        scaled = self._node("Mul", [product, rows[1]], f"{name}.scaled")
        return self._node("Add", [scaled, bias], f"{name}.shifted") if has_bias else scaled

    def _whole_product(self, rows: str, weight: NDArray[np.float32], name: str) -> str:
        """The product of whole numbers, in floats."""
        scale = np.abs(weight).max(axis=0) / np.float32(_TOP_WEIGHT)
        scale[scale == 0] = 1
        whole = np.rint(weight / scale).astype(np.int8)
        inputs = [
            rows,
            self._constant(f"{name}.weight", whole),
            "step",
            self._constant(f"{name}.scale", scale),
            "middle",
            self._constant(f"{name}.zero", np.zeros(len(scale), np.int8)),
        ]
        return self._fused("MatMulIntegerToFloat", inputs, f"{name}.product")

    def _norm_constants(self, name: str) -> list[str]:
        return [self._constant(f"{name}.{part}", self._read(f"{name}.{part}")) for part in ("weight", "bias")]

    def _read(self, name: str) -> NDArray[np.float32]:
        return np.asarray(self._weights[name], np.float32)

    def _constant(self, name: str, value: NDArray | np.generic) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
        return name

    def _node(self, operator: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def _fused(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        return self._node(operator, inputs, output, _FUSED, **attributes)
