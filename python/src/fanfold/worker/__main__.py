"""`python -m fanfold.worker module:app`."""

from .main import entry

entry()
