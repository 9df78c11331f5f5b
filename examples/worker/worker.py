"""A worker in Python: it counts the words of a text, slowly.

    pip install temporalio && python worker.py
"""

import asyncio
import json
import os
import urllib.request

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker


def send_callback(work: dict, body: dict, key: int) -> None:
    """Sends progress of the task. The callback URL is in the work."""
    if not work.get("callbackUrl"):
        return  # Longhaul has no public URL
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"{work['key']}-{key}"}
    urllib.request.urlopen(urllib.request.Request(work["callbackUrl"], json.dumps(body).encode(), headers)).close()


@activity.defn(name="countWords")
async def count_words(work: dict) -> dict:
    """Gets the work of a task and returns its outcome."""
    given = work.get("input") or {}
    if not isinstance(given.get("text"), str):
        raise ApplicationError("The input has no text.", type="bad-input", non_retryable=True)
    words = given["text"].split()
    details = activity.info().heartbeat_details
    done = details[0] if details else 0  # a worker before this one may have begun
    while done < len(words):
        activity.heartbeat(done)
        await asyncio.to_thread(send_callback, work, {"text": f"Counted {done} of {len(words)} words."}, done)
        await asyncio.sleep(given.get("pause", 1000) / 1000)  # is canceled with the task
        done += 1
    return {"state": "completed", "artifacts": [{"artifactId": "count", "parts": [{"data": {"words": done}}]}]}


async def main() -> None:
    client = await Client.connect(
        os.environ.get("TEMPORAL_ADDRESS", "127.0.0.1:7233"), namespace=os.environ.get("TEMPORAL_NAMESPACE", "default")
    )
    await Worker(client, task_queue="words", activities=[count_words]).run()


asyncio.run(main())
