"""A kazoo client that executes commands.

Usage: kazoo_client.py HOSTS SESSION_TIMEOUT_IN_SECONDS

Every line of the input is a JSON array: a number, the name of a method of Client, its arguments. Every line of the
output is a JSON object: {"answer": number, "value" or "error": ...} or {"event": name, "value": ...}.
"""

import json
import sys
import threading
import time

from kazoo.client import KazooClient, TransactionRequest
from kazoo.exceptions import KazooException
from kazoo.recipe.lock import Lock
from kazoo.security import make_acl, make_digest_acl

output = threading.Lock()


def say(**message):
    """One line in one write, from whichever thread."""
    with output:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def seen(event):
    """A kazoo WatchedEvent, or the None of a watch's first call, for JSON."""
    return event and [event.type, event.path]


def number(session_id):
    """A session's, unsigned and in hex: JSON's numbers are too short for some readers."""
    return format(session_id & 0xFFFFFFFFFFFFFFFF, "x")


def fields(stat):
    return {**stat._asdict(), "ephemeralOwner": number(stat.ephemeralOwner)}


class CuratorNamedLock(Lock):
    """kazoo's Lock, whose nodes have the names of Curator's: only these are seen by Curator and by @zk/recipes."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.prefix = "_c_" + self.prefix
        self.create_path = self.path + "/" + self.prefix


class Client:
    def __init__(self, hosts, timeout):
        self.zk = KazooClient(hosts, timeout=timeout)
        self.zk.add_listener(lambda state: say(event="state", value=state))
        self.locks = {}
        self.elections = {}
        self.zk.start()

    # Nodes

    def ensure_path(self, path):
        return self.zk.ensure_path(path)

    def create(self, path, data="", kwargs=None, digest=None):
        acl = digest and [make_digest_acl(*digest, all=True), make_acl("world", "anyone", read=True)]
        return self.zk.create(path, data.encode(), acl, **(kwargs or {}))

    def get(self, path):
        data, stat = self.zk.get(path)
        return [data.decode(), fields(stat)]

    def get_and_watch(self, path):
        """With kazoo's plain, one-shot watch."""
        return self.zk.get(path, lambda event: say(event="watch", value=seen(event)))[0].decode()

    def exists(self, path):
        stat = self.zk.exists(path)
        return stat and fields(stat)

    def exists_and_watch(self, path):
        return self.zk.exists(path, lambda event: say(event="watch", value=seen(event))) is not None

    def set(self, path, data, version=-1):
        return fields(self.zk.set(path, data.encode(), version))

    def delete(self, path, version=-1, recursive=False):
        return self.zk.delete(path, version, recursive)

    def get_children(self, path):
        return sorted(self.zk.get_children(path))

    def get_acls(self, path):
        acls, stat = self.zk.get_acls(path)
        return [[[acl.perms, acl.id.scheme, acl.id.id] for acl in acls], stat.aversion]

    def add_auth(self, scheme, credential):
        return self.zk.add_auth(scheme, credential)

    def sync(self, path):
        return self.zk.sync(path)

    def transaction(self, operations):
        """Operations are method names of a TransactionRequest and their arguments."""
        transaction: TransactionRequest = self.zk.transaction()
        for name, *args in operations:
            getattr(transaction, name)(*[arg.encode() if at == 1 and isinstance(arg, str) else arg for at, arg in enumerate(args)])
        results = transaction.commit()
        return [type(result).__name__ if isinstance(result, Exception) else result for result in results]

    # Watches that set themselves again

    def watch_data(self, path):
        def changed(data, stat, event):
            say(event="data", value=[data and data.decode(), stat and stat.version, seen(event)])

        self.zk.DataWatch(path, changed)

    def watch_children(self, path):
        self.zk.ChildrenWatch(path, lambda children: say(event="children", value=sorted(children)))

    # The session

    def session(self):
        session_id, _ = self.zk.client_id
        return number(session_id)

    def server(self):
        """The address of the one it is connected to."""
        host, port = self.zk._connection._socket.getpeername()
        return f"{host}:{port}"

    def retry_create(self, path, data=""):
        """As kazoo wants its users to write: again, for as long as there is no connection."""
        return self.zk.retry(self.zk.create, path, data.encode())

    def ask(self, word):
        """The server's answer to a four-letter word."""
        return self.zk.command(word.encode())

    # Locks

    def acquire(self, path, kwargs=None, blocking=True):
        """The name of the node by which it is held, or None."""
        lock = self.lock(path, **(kwargs or {}))
        return lock.node if lock.acquire(blocking) else None

    def try_acquire(self, path, kwargs=None):
        return self.acquire(path, kwargs, blocking=False)

    def release(self, path):
        return self.lock(path).release()

    def contenders(self, path):
        return self.lock(path).contenders()

    def lock(self, path, identifier=None, extra_lock_patterns=(), kind="Lock"):
        if path not in self.locks:
            make = {
                "Lock": self.zk.Lock,
                "ReadLock": self.zk.ReadLock,
                "WriteLock": self.zk.WriteLock,
                "CuratorNamedLock": lambda *args, **kwargs: CuratorNamedLock(self.zk, *args, **kwargs),
            }[kind]
            self.locks[path] = make(path, identifier, extra_lock_patterns=extra_lock_patterns)
        return self.locks[path]

    def take_turns(self, path, kind, count, turns):
        """Acquires and releases a lock, and returns when. Each turn adds one to the node `count`, without a version check."""
        history = []
        for _ in range(turns):
            lock = self.lock(path, kind=kind)
            with lock:
                began = time.monotonic_ns()
                token = self.zk.retry(self.zk.exists, f"{path}/{lock.node}").czxid
                data, _ = self.zk.retry(self.zk.get, count)
                self.zk.retry(self.zk.set, count, str(int(data) + 1).encode())
                history.append([str(token), str(began), str(time.monotonic_ns())])
        return history

    # Elections

    def volunteer(self, path, identifier):
        """Sends an event when it leads, and leads until ordered to resign."""
        election, resigned = self.zk.Election(path, identifier), threading.Event()
        self.elections[path] = election, resigned

        def lead():
            say(event="leads", value=identifier)
            resigned.wait()

        threading.Thread(target=election.run, args=[lead], daemon=True).start()

    def candidates(self, path):
        return self.elections[path][0].contenders()

    def resign(self, path):
        self.elections[path][1].set()

    # Other recipes

    def count(self, path, step):
        counter = self.zk.Counter(path)
        counter += step
        return counter.value

    def put(self, path, *entries):
        for entry in entries:
            self.zk.Queue(path).put(entry.encode())

    def take(self, path, number):
        return [self.zk.Queue(path).get().decode() for _ in range(number)]

    def join(self, path, identifier):
        party = self.zk.Party(path, identifier)
        party.join()
        return sorted(party)

    def take_leases(self, path, leases, times):
        """What the attempts give, each by a semaphore of its own."""
        semaphores = [self.zk.Semaphore(path, identifier=str(at), max_leases=leases) for at in range(times)]
        taken = [semaphore.acquire(blocking=False) for semaphore in semaphores]
        for semaphore in semaphores:
            semaphore.release()
        return taken


def main():
    hosts, timeout = sys.argv[1:]
    client = Client(hosts, float(timeout))
    say(event="ready", value=client.session())
    for line in sys.stdin:
        call, name, *args = json.loads(line)
        try:
            say(answer=call, value=getattr(client, name)(*args))
        except KazooException as error:
            say(answer=call, error=type(error).__name__)
    client.zk.stop()
    client.zk.close()


main()
