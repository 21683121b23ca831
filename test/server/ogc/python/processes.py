"""OWSLib's client of OGC API Processes: lists, describes, executes in both ways, and follows a job to its results."""
import json
import sys
import time

import requests
from owslib.ogcapi.processes import Processes

given = json.load(sys.stdin)
headers = {"Authorization": f"Bearer {given['key']}"}
client = Processes(given["url"], headers=dict(headers))

listed = [process["id"] for process in client.processes()]
described = client.process("echo")
waited = client.execute("echo", inputs={"text": "by OWSLib", "list": ["a"]}, outputs={"text": {}, "list": {}})

# What it gives of an asynchronous execution is the job, by its address or as its status.
job = client.execute("echo", inputs={"text": "later", "pause": 0.1}, async_=True)
address = job if isinstance(job, str) else next(link["href"] for link in job["links"] if link["rel"] == "self")
for _ in range(200):
    status = requests.get(address.split("?")[0], headers=headers, timeout=10).json()
    if status["status"] not in ("accepted", "running"):
        break
    time.sleep(0.05)
results = next(link["href"] for link in status["links"] if link["rel"].endswith("/results"))
print(
    json.dumps(
        {
            "listed": listed,
            "inputs": list(described["inputs"]),
            "conforms": [one for one in client.conformance()["conformsTo"] if "ogcapi-processes" in one],
            "waited": waited,
            "status": status["status"],
            "results": requests.get(results, headers=headers, timeout=10).json(),
        }
    )
)
