"""make_corpus.py TEST_DATA ORACLE OUT: the inputs that fuzzing starts from, OUT/<fuzzer>/, out of the tree's test data
and, where the folder ORACLE exists, the reference data. (tests/data/tiny-vocab.gguf is vocabulary_of the reference
model tiny-qwen3-F32.gguf.)"""
import base64
import json
import os
import struct
import sys
import zlib

FIXED = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9


def skip_value(data, at, kind):
    if kind == STRING:
        return at + 8 + struct.unpack_from("<Q", data, at)[0]
    if kind != ARRAY:
        return at + FIXED[kind]
    element, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if element in FIXED:
        return at + count * FIXED[element]
    for _ in range(count):
        at = skip_value(data, at, element)
    return at


def vocabulary_of(path):
    """A GGUF file with the metadata of another and no tensors."""
    with open(path, "rb") as f:
        data = f.read()
    keys, at = struct.unpack_from("<Q", data, 16)[0], 24
    for _ in range(keys):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
        at = skip_value(data, at + 4, struct.unpack_from("<I", data, at)[0])
    return data[:8] + struct.pack("<Q", 0) + data[16:at]


def conversation(case, as_json):
    """A case of chat.jsonl as template_fuzz.cpp reads it."""
    bits = as_json * 1 + case["add_generation_prompt"] * 2 + (case["enable_thinking"] is not False) * 4
    if as_json:
        messages = json.dumps(case["messages"])
    else:
        records = []
        for message in case["messages"]:
            fields = [message["role"][0], message.get("content") or ""]
            for call in message.get("tool_calls") or []:
                function = call.get("function", call)
                fields += ["", function["name"], json.dumps(function["arguments"])]
            records.append("\x1f".join(fields))
        messages = "\x1e".join(records)
    tools = [json.dumps(tool) for tool in case["tools"] or []]
    return bytes([bits]) + "\0".join([messages] + tools).encode("utf-8", "surrogatepass")


def saved_cache(keys, values, positions, bytes_of_position):
    """The content of a cache file for the model of cache_fuzz.cpp."""
    head = struct.pack("<QI4sIIQQQQ", 0x0123456789ABCDEF, 4, b"fuzz", keys, values, 2, 1, 32, positions)
    return head + struct.pack(f"<{positions}i", *range(positions)) + bytes(positions * bytes_of_position)


def checked_file(content):
    """Content in the frame that llm/checked_file.h describes."""
    piece = 65532
    pieces = [content[at:at + piece] for at in range(0, len(content), piece)]
    start = b"AXIALKVC" + struct.pack("<IQ", 1, 24 + len(content) + 4 * len(pieces))
    file, checksum = b"", 0
    for part in [start] + pieces:
        checksum = zlib.crc32(struct.pack("<I", checksum) + part)
        file += part + struct.pack("<I", checksum)
    return file


def read(path):
    with open(path, "rb") as f:
        return f.read()


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def main():
    test_data, oracle, out = sys.argv[1:]

    def save(fuzzer, name, content):
        os.makedirs(os.path.join(out, fuzzer), exist_ok=True)
        with open(os.path.join(out, fuzzer, name), "wb") as f:
            f.write(content)

    save("gguf", "small", read(os.path.join(test_data, "small.gguf")))
    for fuzzer in ("gguf", "tokenizer"):
        save(fuzzer, "tiny-vocab", read(os.path.join(test_data, "tiny-vocab.gguf")))
    save("tokenizer", "text", "Hello, world! \u00e9\u6587 <|im_start|>user\n1234 don't   \n\n x".encode())
    numbers = {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.0}, "rest": [1e300, -1e-300, 2**63, -1]}
    save("tokenizer", "json-numbers", json.dumps(numbers).encode())
    save("template", "text", b"\x06" + b"s\x1fBe brief.\x1eu\x1fHi <|im_end|>\x1ea\x1fHello\x1fthoughts\x1ef\x1fx")
    call = '{"name": "f", "%s": {"x": "</tool_call> \\\\\\""}}'
    save("tool_calls", "tagged", ("\0\x10So.\n<tool_call>\n" + call % "arguments" + "\n</tool_call>\n").encode())
    save("tool_calls", "bare", ("\x01\x08" + call % "parameters" + "; " + call % "parameters").encode())
    entries = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]}}
    header = json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()
    other = {"m": {"dtype": "BOOL", "shape": [4], "data_offsets": [0, 4]}, "q": {"dtype": "F4", "shape": [2, 4], "data_offsets": [4, 8]}}
    unread = json.dumps({**other, "none": {"dtype": "F32", "shape": [0], "data_offsets": [8, 8]}}).encode()
    save("safetensors", "unread", struct.pack("<Q", len(unread)) + unread + bytes(range(8)))
    save("safetensors", "two", struct.pack("<Q", len(header)) + header + bytes(range(32)))
    for name, descr, order, shape, data in (("f4", "<f4", False, "(2, 3)", bytes(range(24))), ("f8", "<f8", True, "(1, 3)", bytes(24)),
                                            ("i1", "|i1", True, "(2, 2, 3)", bytes(range(12))), ("none", "<f2", False, "()", b"xy")):
        header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
        save("npy", name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
    for name, cache in (("f16", saved_cache(1, 1, 3, 256)), ("mixed", saved_cache(8, 0, 2, 2 * (34 + 128))),
                        ("long", saved_cache(1, 1, 250, 256)), ("empty", saved_cache(0, 0, 0, 0))):
        save("cache", "content-" + name, b"\x01" + cache)
        save("cache", "file-" + name, b"\x00" + checked_file(cache))
    if not os.path.isdir(oracle):
        return

    models = os.path.join(oracle, "models")
    for name in ("tiny-qwen2-Q8_0.gguf", "tiny-llama-F32.gguf", "tiny-qwen3moe-MXFP4.gguf"):
        save("gguf", "cut-" + name, read(os.path.join(models, name))[:1 << 15])
        for fuzzer in ("gguf", "tokenizer"):
            save(fuzzer, "vocab-" + name, vocabulary_of(os.path.join(models, name)))
    for report in lines(os.path.join(oracle, "reports.jsonl")):
        files = report.get("input", {})
        if files.get("kind") == "gguf_bytes":
            for file in files["files"]:
                save("gguf", report["id"] + "-" + file["name"], bytes.fromhex(file["hex"]))
        elif files.get("kind") == "gguf_split":
            for i, content in enumerate(files["files"].values()):
                save("gguf", report["id"] + "-" + str(i), bytes.fromhex(content))
    for i, case in enumerate(lines(os.path.join(oracle, "chat", "chat.jsonl"))):
        save("template", f"json-{i}", conversation(case, True))
        save("template", f"fields-{i}", conversation(case, False))
    for name in ("tiny-qwen3-hf-BF16", "tiny-llama-hf-F32"):
        save("tokenizer", "json-" + name, read(os.path.join(models, name, "tokenizer.json")))
        save("safetensors", "config-" + name, read(os.path.join(models, name, "config.json")))
    save("safetensors", "model", read(os.path.join(models, "tiny-llama-hf-F32", "model.safetensors"))[:1 << 15])
    folder = os.path.join(oracle, "tokenizer")
    for source in ("tokens.jsonl", "tokens-tiny.jsonl"):
        for i, case in enumerate(lines(os.path.join(folder, source))):
            save("tokenizer", f"{source}-{i}", case["text"].encode()[:4096])
    for i, case in enumerate(lines(os.path.join(folder, "invalid-utf8.jsonl"))):
        save("tokenizer", f"invalid-{i}", base64.b64decode(case["base64"]))


main()
