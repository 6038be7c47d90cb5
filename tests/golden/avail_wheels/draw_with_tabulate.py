#!/usr/bin/env python3
"""Makes, or compares, the golden tables of avail_wheels with the real tabulate.

    python3 -m venv V && V/bin/pip install tabulate wcwidth
    V/bin/python tests/golden/avail_wheels/draw_with_tabulate.py            compares; exit 1 where one differs
    V/bin/python tests/golden/avail_wheels/draw_with_tabulate.py --write    makes them

The cells are those of tests/avail_wheels/table_test.cpp. Texts stay texts (disable_numparse): 1.10 is not 1.1.
"""

import sys
from pathlib import Path

import tabulate

HERE = Path(__file__).resolve().parent

HEADERS = ["name", "version", "python", "arch"]
TABLES = {
    "table": [["h5netcdf", "0.7.4", "py2,py3", "generic"], ["netCDF4", "1.10", "cp39", "avx2"], ["pip", "", "", ""]],
    "empty": [],
    "odd": [["日本語パッケージ", "1.0", "é̀", "a&b<c_d>"], ["emoji🚀", "2", "한국어", "50% #1 {x} ~^\\ $"], ["\"quoted\"", "it's", "", ""]],
}
FORMATS = ["simple", "plain", "github", "tsv", "mediawiki", "html"]


def main() -> int:
    if tabulate.wcwidth is None:
        print("wcwidth is missing: wide characters would be counted as one column")
        return 1
    different = 0
    for table, rows in TABLES.items():
        for name in FORMATS:
            file = HERE / f"{table}_{name}.txt"
            text = tabulate.tabulate(rows, headers=HEADERS, tablefmt=name, disable_numparse=True) + "\n"
            if "--write" in sys.argv[1:]:
                file.write_text(text, encoding="utf-8")
            elif not file.exists() or file.read_text(encoding="utf-8") != text:
                print(f"{file.name} is not what tabulate {tabulate.__version__} draws")
                different = 1
    print(f"{len(TABLES) * len(FORMATS)} tables of tabulate {tabulate.__version__}")
    return different


if __name__ == "__main__":
    sys.exit(main())
