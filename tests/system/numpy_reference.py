"""StableHLO programs evaluated with NumPy in double precision, statement by statement.

Enough of the text form for the models that models_test.py runs: one function, static shapes, no
control flow. What it does not know raises KeyError or ValueError.
"""

import re
import struct

import numpy

TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1",
         "ui64": "u8", "ui32": "u4", "ui16": "u2", "ui8": "u1", "i1": "?"}

UNARY = {"exponential": numpy.exp, "log": numpy.log, "negate": numpy.negative, "tanh": numpy.tanh,
         "sqrt": numpy.sqrt, "rsqrt": lambda x: 1 / numpy.sqrt(x), "abs": numpy.abs,
         "not": numpy.logical_not, "sine": numpy.sin, "cosine": numpy.cos,
         "logistic": lambda x: 1 / (1 + numpy.exp(-x))}
BINARY = {"add": numpy.add, "subtract": numpy.subtract, "multiply": numpy.multiply,
          "maximum": numpy.maximum, "minimum": numpy.minimum, "power": numpy.power,
          "and": numpy.logical_and, "or": numpy.logical_or}
COMPARE = {"EQ": numpy.equal, "NE": numpy.not_equal, "LT": numpy.less, "LE": numpy.less_equal,
           "GT": numpy.greater, "GE": numpy.greater_equal}


def tensor_type(text):
    """Shape and NumPy type of "2x3xf32"."""
    *dims, element = text.split("x")
    return tuple(int(dim) for dim in dims), numpy.dtype("<" + TYPES[element])


def statements(text):
    """The lines of a function's body, each with the lines that belong to it."""
    text = re.sub(r"//[^\n]*", "", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    joined, depth = [], 0
    for line in lines:
        starts = re.match(r"%\w+(:\d+)? = |return |func\.func|module|\}$", line)
        if depth == 0 and (starts or not joined):
            joined.append(line)
        else:
            joined[-1] += " " + line
        if not re.match(r"func\.func|module|\}$", joined[-1]):
            bare = line.replace("->", "")
            depth += sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
    return joined


def numbers(text):
    return [int(number) for number in re.findall(r"-?\d+", text)]


def listed(text, name):
    """The integers of `name = [..]`, `name = array<i64: ..>` or `name = dense<..>`."""
    found = re.search(name + r"\s*=\s*(?:array<i64:?([^>]*)>|dense<([^>]*)>|(\[(?:[^\[\]]|\[[^\[\]]*\])*\]))",
                      text)
    return numbers(next(group for group in found.groups() if group is not None)) if found else None


def number(text, name, otherwise):
    found = re.search(name + r"\s*=\s*(-?\d+)", text)
    return int(found.group(1)) if found else otherwise


def literal(text, shape, dtype):
    text = text.strip()
    if text in ("true", "false"):
        return numpy.full(shape, text == "true")
    if text.startswith("0x"):
        raw = bytes.fromhex(text[2:].rjust(2 * dtype.itemsize, "0"))
        return numpy.full(shape, struct.unpack(">" + {4: "f", 8: "d"}[dtype.itemsize], raw)[0])
    values = [float(item) if dtype.kind == "f" else int(item)
              for item in re.findall(r"-?[\d.]+(?:[eE][-+]?\d+)?", text)]
    values = numpy.array(values, dtype="f8" if dtype.kind == "f" else dtype)
    return numpy.full(shape, values[0]) if "[" not in text else values.reshape(shape)


def padded(value, low, high, interior, fill):
    """StableHLO's pad; negative padding cuts."""
    for axis in range(value.ndim):
        size = value.shape[axis]
        inner = size + max(size - 1, 0) * interior[axis]
        total = low[axis] + inner + high[axis]
        shape = list(value.shape)
        shape[axis] = total
        result = numpy.full(shape, fill, dtype=value.dtype)
        places = low[axis] + numpy.arange(size) * (interior[axis] + 1)
        kept = (places >= 0) & (places < total)
        target = [slice(None)] * value.ndim
        target[axis] = places[kept]
        result[tuple(target)] = numpy.compress(kept, value, axis=axis)
        value = result
    return value


def windows(value, sizes, strides, dilations=None):
    """For each place in a window, its index and the elements that it has in all windows."""
    dilations = dilations or [1] * len(sizes)
    counts = [(extent - (size - 1) * dilation - 1) // stride + 1 for extent, size, stride, dilation
              in zip(value.shape, sizes, strides, dilations)]
    for place in numpy.ndindex(*sizes):
        yield place, tuple(slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                           for at, dilation, count, stride in zip(place, dilations, counts, strides))


def dot_general(lhs, rhs, text):
    def pair(name):
        found = re.search(name + r" = \[([\d, ]*)\] x \[([\d, ]*)\]", text)
        return (numbers(found.group(1)), numbers(found.group(2))) if found else ([], [])
    (lhs_batch, rhs_batch), (lhs_sum, rhs_sum) = pair("batching_dims"), pair("contracting_dims")
    lhs_free = [d for d in range(lhs.ndim) if d not in lhs_batch + lhs_sum]
    rhs_free = [d for d in range(rhs.ndim) if d not in rhs_batch + rhs_sum]
    batch = [lhs.shape[d] for d in lhs_batch]
    count = int(numpy.prod([lhs.shape[d] for d in lhs_sum], dtype=int))
    a = lhs.transpose(lhs_batch + lhs_free + lhs_sum).reshape(batch + [-1, count])
    b = rhs.transpose(rhs_batch + rhs_sum + rhs_free).reshape(batch + [count, -1])
    return (a @ b).reshape(batch + [lhs.shape[d] for d in lhs_free] + [rhs.shape[d] for d in rhs_free])


def layout(text):
    """Permutations of both operands and the result to (batch or output, feature, space...)."""
    found = re.search(r"\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]", text)
    if found:
        sides = [[item.strip() for item in group.split(",")] for group in found.groups()]
        spaces = [str(d) for d in range(len(sides[0]) - 2)]
        return [[side.index(name) for name in first + spaces]
                for side, first in zip(sides, (["b", "f"], ["o", "i"], ["b", "f"]))]
    return [[number(text, side + "_" + a + "_dimension", 0), number(text, side + "_" + b + "_dimension", 0)]
            + listed(text, side + "_spatial_dimensions")
            for side, a, b in (("input", "batch", "feature"),
                               ("kernel", "output_feature", "input_feature"),
                               ("output", "batch", "feature"))]


def convolution(lhs, rhs, text):
    groups = number(text, "feature_group_count", 1)
    if number(text, "batch_group_count", 1) != 1:
        raise ValueError("batch groups")
    lhs_order, rhs_order, result_order = layout(text)
    lhs, rhs = lhs.transpose(lhs_order), rhs.transpose(rhs_order)
    space = lhs.ndim - 2
    ones = [1] * space
    strides = listed(text, "stride") or listed(text, "window_strides") or ones
    padding = listed(text, "pad") or listed(text, "padding") or [0] * (2 * space)
    lhs_dilation = listed(text, "lhs_dilate") or listed(text, "lhs_dilation") or ones
    rhs_dilation = listed(text, "rhs_dilate") or listed(text, "rhs_dilation") or ones
    lhs = padded(lhs, [0, 0] + padding[0::2], [0, 0] + padding[1::2],
                 [0, 0] + [dilation - 1 for dilation in lhs_dilation], 0.0)
    total, extents, parts = None, (), rhs.shape[0] // groups
    grouped = rhs.reshape((groups, parts) + rhs.shape[1:])
    for place, where in windows(lhs, (1, 1) + rhs.shape[2:], [1, 1] + strides, [1, 1] + rhs_dilation):
        window = lhs[(slice(None), slice(None)) + where[2:]]
        extents = window.shape[2:]
        window = window.reshape(window.shape[0], groups, -1, int(numpy.prod(extents)))
        step = grouped[(Ellipsis,) + place[2:]] @ window
        total = step if total is None else total + step
    total = total.reshape((total.shape[0], groups * parts) + extents)
    return total.transpose(numpy.argsort(result_order))


def window_of(text, rank):
    sizes, ones = listed(text, "window_dimensions"), [1] * rank
    padding = listed(text, "padding") or [0] * (2 * rank)
    return sizes, listed(text, "window_strides") or ones, padding[0::2], padding[1::2]


def reduce_window(value, init, text):
    combine = BINARY[re.search(r"stablehlo\.(maximum|minimum|add|multiply)", text).group(1)]
    sizes, strides, low, high = window_of(text, value.ndim)
    value = padded(value, low, high, [0] * value.ndim, init)
    result = None
    for _, where in windows(value, sizes, strides):
        result = value[where] if result is None else combine(result, value[where])
    return combine(result, init)


def select_and_scatter(value, source, init, text):
    """For `GE` as what selects (the first maximum) and addition as what scatters."""
    sizes, strides, low, high = window_of(text, value.ndim)
    spread = padded(value, low, high, [0] * value.ndim, -numpy.inf)
    best, chosen, places = None, None, []
    for index, (_, where) in enumerate(windows(spread, sizes, strides)):
        places.append(where)
        here = spread[where]
        if best is None:
            best, chosen = here.copy(), numpy.zeros(here.shape, int)
        else:
            better = here > best
            best, chosen = numpy.where(better, here, best), numpy.where(better, index, chosen)
    result = numpy.full(spread.shape, float(init))
    for index, where in enumerate(places):
        result[where] += numpy.where(chosen == index, source, 0)
    return result[tuple(slice(at, at + size) for at, size in zip(low, value.shape))]


def evaluate(line, values):
    """The value of one statement."""
    name = re.search(r'= "?stablehlo\.(\w+)"?', line).group(1)
    rest = line[line.index("stablehlo." + name) + len("stablehlo." + name):]
    shape, dtype = tensor_type(re.findall(r"tensor<([^<>]*)>", line)[-1])
    if name == "constant":
        return literal(re.search(r"dense<(.*)> : ", rest).group(1), shape, dtype)
    if name == "iota":
        axis = number(rest, "(?:dim|iota_dimension)", 0)
        line_shape = [extent if d == axis else 1 for d, extent in enumerate(shape)]
        return numpy.broadcast_to(numpy.arange(shape[axis]).reshape(line_shape), shape).astype(
            "f8" if dtype.kind == "f" else dtype)
    operands = [values[operand] for operand in re.findall(r"%[\w#]+", rest.split("({")[0].split(" : ")[0])]
    first = operands[0]
    if name in UNARY:
        return UNARY[name](first)
    if name in BINARY:
        return BINARY[name](*operands)
    if name == "divide":
        return first / operands[1] if first.dtype.kind == "f" else first // operands[1]
    if name == "convert":
        if dtype.kind == "f":
            return first.astype("f8")
        return first != 0 if dtype.kind == "b" else first.astype(dtype)
    if name == "compare":
        return COMPARE[re.search(r"\b(EQ|NE|LT|LE|GT|GE)\b", rest).group(1)](*operands)
    if name == "select":
        return numpy.where(*operands)
    if name == "reshape":
        return first.reshape(shape)
    if name == "transpose":
        return first.transpose(listed(rest, "dims") or listed(rest, "permutation"))
    if name == "reverse":
        return numpy.flip(first, listed(rest, "dims"))
    if name == "broadcast_in_dim":
        dims = listed(rest, "(?:dims|broadcast_dimensions)")
        wide = [1] * len(shape)
        for extent, dim in zip(first.shape, dims):
            wide[dim] = extent
        return numpy.broadcast_to(first.reshape(wide), shape)
    if name == "slice":
        ranges = re.search(r"\[([^\]]*)\]", rest).group(1).split(",")
        return first[tuple(slice(*numbers(part)) for part in ranges)]
    if name == "pad":
        return padded(first, listed(rest, "low"), listed(rest, "high"), listed(rest, "interior"),
                      operands[1])
    if name == "concatenate":
        return numpy.concatenate(operands, number(rest, "dim", 0))
    if name == "reduce":
        combine = BINARY[re.search(r"applies stablehlo\.(\w+)", rest).group(1)]
        axes = tuple(listed(rest, "dimensions"))
        return combine(combine.reduce(first, axis=axes), operands[1])
    if name == "dot_general":
        return dot_general(first, operands[1], rest)
    if name == "convolution":
        return convolution(first, operands[1], rest)
    if name == "reduce_window":
        return reduce_window(first, float(operands[1]), rest)
    if name == "select_and_scatter":
        return select_and_scatter(*operands, rest)
    raise KeyError(name)


class Program:
    """The only function of a module."""

    def __init__(self, text):
        # Attributes of arguments and results may hold anything in quotes.
        header = re.search(r"func\.func (?:public )?@[\w.]+\((.*?)\) ->", text, re.DOTALL).group(1)
        self.arguments = [(name, *tensor_type(kind)) for name, kind
                          in re.findall(r"(%\w+): tensor<([^<>]*)>", header)]
        self.body = statements(text[text.index("{\n", text.index("func.func")) + 2:])

    def random_inputs(self, seed, scale=0.1):
        """One array for each argument, in its own type; whole numbers are below 8."""
        generator = numpy.random.default_rng(seed)
        inputs = []
        for _, shape, dtype in self.arguments:
            values = generator.standard_normal(shape) * scale if dtype.kind == "f" \
                else generator.integers(0, 2 if dtype.kind == "b" else 8, shape)
            inputs.append(numpy.asarray(values).astype(dtype))
        return inputs

    def run(self, inputs):
        values = {name: value.astype("f8") if value.dtype.kind == "f" else value
                  for (name, _, _), value in zip(self.arguments, inputs)}
        uses = {}
        for index, line in enumerate(self.body):
            for name in re.findall(r"%[\w#]+", line):
                uses[name] = index
        with numpy.errstate(all="ignore"):
            for index, line in enumerate(self.body):
                if line.startswith("return "):
                    return [values[name] for name in re.findall(r"%[\w#]+", line.split(" : ")[0])]
                result = re.match(r"%\w+", line).group(0)
                values[result] = evaluate(line, values)
                # Values die after their last use: a training step has many large ones.
                for name in set(re.findall(r"%[\w#]+", line)):
                    if uses[name] == index:
                        values.pop(name, None)
        raise ValueError("no return")
