"""A list of items and collections on standard input: how many there are, and what is wrong with which."""
import json

from offline import given, problems

print(json.dumps({"count": len(given), "problems": problems(given)}))
