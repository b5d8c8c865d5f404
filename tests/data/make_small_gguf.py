"""make_small_gguf.py: writes small.gguf, with every metadata type and tensors in several formats, and small.json, what
gguf-py's own reader finds in it. Needs gguf (gguf-py) and numpy; both files come out the same on every run."""
import json
import os

import gguf
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
T = gguf.GGUFValueType
Q = gguf.GGMLQuantizationType
SCALARS = [
    (T.UINT8, 200), (T.INT8, -100), (T.UINT16, 60000), (T.INT16, -30000), (T.UINT32, 4000000000),
    (T.INT32, -2000000000), (T.FLOAT32, 0.15625), (T.BOOL, True), (T.STRING, "text with \u00e9 and \u6587"),
    (T.UINT64, 2**63 - 1), (T.INT64, -2**63), (T.FLOAT64, 1e-300),
]
ARRAYS = [
    (T.UINT8, [0, 255]), (T.INT8, [-128, 127]), (T.UINT16, [1, 65535]), (T.INT16, [-1, 2]), (T.UINT32, [7]),
    (T.INT32, [-5, 0, 5]), (T.FLOAT32, [0.5, -0.25, 1024.0]), (T.BOOL, [True, False, True]),
    (T.STRING, ["a", "", "two words", "\u00e9"]), (T.UINT64, [1, 2**40]), (T.INT64, [-2**40]),
    (T.FLOAT64, [0.1, -1e200]),
]
TENSORS = [  # name, format, shape with the outermost axis first
    ("scalar_like.weight", Q.F32, (1,)), ("blk.0.attn_norm.weight", Q.F32, (96,)), ("half.weight", Q.F16, (3, 5)),
    ("brain.weight", Q.BF16, (2, 3, 4)), ("four_axes.weight", Q.F32, (2, 1, 3, 5)), ("q8.weight", Q.Q8_0, (3, 64)),
    ("q4.weight", Q.Q4_0, (2, 32)), ("q6k.weight", Q.Q6_K, (2, 256)), ("nvfp4.weight", Q.NVFP4, (1, 64)),
    ("ints.weight", Q.I32, (6,)),
]


def write(path):
    rng = np.random.default_rng(5)
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_custom_alignment(64)
    for value_type, value in SCALARS:
        writer.add_key_value(f"scalar.{value_type.name.lower()}", value, value_type)
    for value_type, value in ARRAYS:
        writer.add_key_value(f"array.{value_type.name.lower()}", value, T.ARRAY, sub_type=value_type)
    writer.add_key_value("array.nested", [[1, 2], [3]], T.ARRAY)
    for name, quant, shape in TENSORS:
        if quant == Q.F32:
            writer.add_tensor(name, rng.standard_normal(shape).astype(np.float32))
        elif quant == Q.F16:
            writer.add_tensor(name, rng.standard_normal(shape).astype(np.float16))
        elif quant == Q.I32:
            writer.add_tensor(name, rng.integers(-9, 9, shape).astype(np.int32))
        else:
            block, size = gguf.GGML_QUANT_SIZES[quant]
            raw = rng.integers(0, 60, (*shape[:-1], shape[-1] // block * size), dtype=np.uint8)
            writer.add_tensor(name, raw, raw_dtype=quant)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def describe(path):
    reader = gguf.GGUFReader(path)
    keys = []
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "array.nested":
            continue
        entry = {"key": field.name, "type": field.types[0].name}
        if field.types[0] == T.ARRAY:
            entry["element"] = field.types[1].name
        entry["value"] = field.contents()
        keys.append(entry)
    tensors = [{"name": t.name, "format": t.tensor_type.name, "extent": [int(n) for n in reversed(t.shape)],
                "offset": int(t.data_offset), "bytes": int(t.n_bytes), "start": t.data.tobytes()[:16].hex()}
               for t in reader.tensors]
    return {"alignment": int(reader.alignment), "keys": keys, "tensors": tensors}


small = os.path.join(HERE, "small.gguf")
write(small)
with open(os.path.join(HERE, "small.json"), "w") as f:
    json.dump(describe(small), f, indent=1, default=lambda x: x.item())
    f.write("\n")
