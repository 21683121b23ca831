# Made by scripts/generate.py from its twin in _async: do not edit.
