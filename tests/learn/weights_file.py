"""The file of learned weights that a training script writes, or compares with what is committed."""

import pathlib


def settle(path, text, check, command):
    """Writes the text, or with `check` compares it with the file. Returns the exit code: 1 where they differ; `command` mends it."""
    path = pathlib.Path(path)
    if not check:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == text:
        print(f"learn: {path.name} is what its data gives")
        return 0
    print(f"learn: {path} is not what its data gives: run {command}")
    return 1
