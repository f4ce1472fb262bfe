#!/usr/bin/env python3
"""Converts a text file to a C string.  usage: page.py NAME FILE"""
import json
import sys

name, path = sys.argv[1:]
print("/* Made from %s. */\nstatic const char %s[] =" % (path, name))
with open(path, encoding="ascii") as text:
    for line in text:
        print("\t%s" % json.dumps(line))
print(";")
