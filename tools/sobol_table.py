"""Extract the Sobol table that is shipped from SciPy's data file: `python tools/sobol_table.py`.

SciPy ships new-joe-kuo-6 as the primitive polynomials and initial numbers of 21201 dimensions; the first 256 are kept.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

DIMENSIONS = 256
TABLE = Path(__file__).parents[1] / "uncertain_botec" / "sampling" / "tables" / "sobol.txt"
HEADER = """\
Sobol points: primitive polynomial (highest power in the highest bit) and initial numbers m_1 .. m_s of each dimension.
The first 256 dimensions of new-joe-kuo-6 by S. Joe and F. Y. Kuo, SIAM J. Sci. Comput. 30, 2635-2654 (2008),
https://web.maths.unsw.edu.au/~fkuo/sobol/, extracted from SciPy's copy by tools/sobol_table.py. Their licence:

Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
All rights reserved.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:

    * Redistributions of source code must retain the above copyright
      notice, this list of conditions and the following disclaimer.

    * Redistributions in binary form must reproduce the above copyright
      notice, this list of conditions and the following disclaimer in the
      documentation and/or other materials provided with the distribution.

    * Neither the names of the copyright holders nor the names of the
      University of New South Wales and the University of Waikato
      and its contributors may be used to endorse or promote products derived
      from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY
EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY
DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
(INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND
ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
"""


def main() -> None:
    """Read SciPy's file and write the table."""
    with as_file(files("scipy.stats") / "_sobol_direction_numbers.npz") as path, np.load(path) as data:
        polynomials, initial = data["poly"][:DIMENSIONS].tolist(), data["vinit"][:DIMENSIONS].tolist()
    rows = [[poly, *numbers[: poly.bit_length() - 1]] for poly, numbers in zip(polynomials, initial, strict=True)]
    lines = [f"# {line}".rstrip() for line in HEADER.splitlines()] + [" ".join(map(str, row)) for row in rows]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
