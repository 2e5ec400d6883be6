"""Reads lines: a pattern and texts, each in base64. Prints 1 for each text in which the pattern is found, else 0."""

import re
import sys
from base64 import b64decode

for line in sys.stdin:
    pattern, *texts = (b64decode(one).decode() for one in line.rstrip("\n").split(" "))
    print("".join("1" if re.search(pattern, text) else "0" for text in texts))
