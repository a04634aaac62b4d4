# RUN: %python %S/../../run-suite/suite.py %tf-run %tf-llc %t
"""The part of the Run suite that runs everywhere; `test/run-suite/suite.py TF_RUN TF_LLC SCRATCH --all` runs the rest."""
