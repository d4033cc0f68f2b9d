"""Counts files with Python's tiktoken, for comparison: VOCABULARY LIST COUNTS.

The vocabulary is read from a file that the project wrote, and accepted only if it has the hash that
the package expects of the official one.
"""

import base64
import hashlib
import json
import sys
import time

import tiktoken
import tiktoken_ext.openai_public as public

vocabulary, files, counts_file = sys.argv[1:]


def load(_name, expected_hash=None):
    with open(vocabulary, "rb") as file:
        data = file.read()
    found = hashlib.sha256(data).hexdigest()
    if found != expected_hash:
        sys.exit(f"the vocabulary has the hash {found}, the official one {expected_hash}")
    pairs = (line.split() for line in data.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


public.load_tiktoken_bpe = load
encoding = tiktoken.get_encoding("o200k_base")

texts = []
with open(files, encoding="utf-8") as paths:
    for path in paths.read().splitlines():
        with open(path, encoding="utf-8", newline="") as file:
            texts.append(file.read())

best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    counts = [len(encoding.encode_ordinary(text)) for text in texts]
    best = min(best, time.perf_counter() - start)

with open(counts_file, "w", encoding="utf-8") as file:
    file.write("\n".join(map(str, counts)))
print(json.dumps({"seconds": best, "tokens": sum(counts)}))
