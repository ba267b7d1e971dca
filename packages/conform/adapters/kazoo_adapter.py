# kazoo as an adapter: python3 kazoo_adapter.py
import json
import sys
import threading

from kazoo.client import KazooClient

client = None
printing = threading.Lock()


def watcher(watch):
    return (lambda event: None) if watch else None


def connect(servers, timeout):
    global client
    client = KazooClient(hosts=servers, timeout=timeout / 1000)
    client.start(timeout=10)


def watch(path, recursive):
    # kazoo 2.11.0 has no persistent watches; later versions do.
    from kazoo.protocol.states import AddWatchMode

    mode = AddWatchMode.PERSISTENT_RECURSIVE if recursive else AddWatchMode.PERSISTENT
    client.add_watch(path, watcher(True), mode)


def close():
    client.stop()
    client.close()


calls = {
    "connect": connect,
    "addAuth": lambda scheme, auth: client.add_auth(scheme, auth),
    "create": lambda path, data: client.create(path, data.encode()),
    "set": lambda path, data: client.set(path, data.encode()),
    "get": lambda path, watch: client.get(path, watcher(watch)),
    "exists": lambda path, watch: client.exists(path, watcher(watch)),
    "children": lambda path, watch: client.get_children(path, watcher(watch)),
    "watch": watch,
    "close": close,
}


def answer(id, op, **ask):
    said = {"id": id}
    try:
        calls[op](**ask)
    except Exception as error:
        said["error"] = str(error) or type(error).__name__
    with printing:
        print(json.dumps(said), flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, kwargs=json.loads(line), daemon=True).start()
