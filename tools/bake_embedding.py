"""Bake evaluation/words.npz: WordLlama's word vectors and their tokenizer, without the package.

    pip install --no-deps --target FOLDER wordllama==0.4.0.post1
    python tools/bake_embedding.py FOLDER/wordllama generator/mimegen/evaluation/words.npz

The vectors are kept bit for bit. Their low and their high bytes lie apart, because together they
do not compress.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.files import publishing

TOKENS, NUMBERS = 32_000, 256


def main() -> None:
    """Read the package's files and write one archive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", type=Path, help="folder of the installed package wordllama")
    parser.add_argument("target", type=Path)
    told = parser.parse_args()
    tokenizer = json.loads((told.package / "tokenizers/l2_supercat_tokenizer_config.json")
                           .read_text(encoding="utf-8"))
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    vectors = read_vectors(told.package / "weights/l2_supercat_256.safetensors")
    with publishing(told.target) as path, path.open("wb") as file:
        np.savez_compressed(
            file, tokenizer=np.frombuffer(text.encode(), np.uint8),
            vectors=np.moveaxis(vectors.view(np.uint8).reshape(TOKENS, NUMBERS, 2), 2, 0))


def read_vectors(path: Path) -> NDArray[np.float16]:
    """Return the vectors (tokens, 256) of a file in the format of safetensors with one tensor."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    [(_, tensor)] = json.loads(content[8:start]).items()
    if (tensor["dtype"], tensor["shape"]) != ("F16", [TOKENS, NUMBERS]):
        raise ValueError(f"{path}: expected {TOKENS} x {NUMBERS} numbers of 16 bits, not {tensor}")
    return np.frombuffer(content[start:], "<f2").reshape(TOKENS, NUMBERS)


if __name__ == "__main__":
    main()
