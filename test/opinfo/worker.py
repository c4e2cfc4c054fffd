"""A process that runs pairs: the line `ready`, then one JSON line out for each JSON line in."""

from __future__ import annotations

# pyright: basic
import json
import os
import sys

import torch

from .checks import Setting, run_pair
from .pairs import entries


def main() -> int:
    """Read pairs until the input ends. What a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    setting = Setting(**json.loads(sys.argv[1]))
    torch.set_num_threads(1)
    torch._dynamo.lookup_backend(setting.backend)  # one that cannot be imported is no state of a pair
    entries()
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        op, dtype = json.loads(line)
        answers.write(run_pair((op, dtype), setting).to_json() + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
