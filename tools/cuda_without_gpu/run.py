#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs python with the stand-ins that build.py put into FOLDER. usage: python run.py FOLDER -- PYTHON-ARGUMENTS...

The device is chosen by the environment: FAKE_CC (90), FAKE_SM (132), FAKE_MEM_MIB (81079), FAKE_NDEV (1); see README.md."""

import glob
import os
import sys

if len(sys.argv) < 3 or sys.argv[2] != "--":
    sys.exit(__doc__)
folder = os.path.abspath(sys.argv[1])
libraries = sorted(glob.glob(os.path.join(folder, "lib*.so*")))
if not libraries:
    sys.exit("nothing in %s: run build.py first" % folder)
environment = dict(os.environ)
environment["LD_PRELOAD"] = ":".join(libraries + [x for x in [environment.get("LD_PRELOAD")] if x])
environment["LD_LIBRARY_PATH"] = ":".join(
    [folder] + [x for x in [environment.get("LD_LIBRARY_PATH")] if x]
)
os.execve(sys.executable, [sys.executable] + sys.argv[3:], environment)
