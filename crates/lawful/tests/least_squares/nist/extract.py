#!/usr/bin/env python3
"""Writes nonlinear.txt from files of NIST's Statistical Reference Datasets for nonlinear regression.

    extract.py folder > nonlinear.txt

The folder holds the .dat files of https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml, unchanged. Their
certified values were computed by NIST with 128-bit numbers; the data are in the public domain.
"""
import re, sys

SETS = ["Misra1a", "Chwirut2", "DanWood", "Thurber", "MGH09", "MGH17", "Eckerle4", "Rat43", "BoxBOD"]
for name in SETS:
    text = open(f"{sys.argv[1]}/{name}.dat").read()
    rows = re.findall(r"^\s*b\d+\s*=\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*$", text, re.M)
    total = re.search(r"Residual Sum of Squares:\s*(\S+)", text).group(1)
    data = re.split(r"^Data:\s+y\s+x\s*$", text, flags=re.M)[1].split()
    print("set", name)
    for key, column in [("first", 0), ("second", 1), ("certified", 2)]:
        print(key, *(row[column] for row in rows))
    print("squares", total)
    print("y", *data[0::2])
    print("x", *data[1::2])
