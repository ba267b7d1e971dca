import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.NodeCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.cli.AclParser;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * A Curator client that executes commands.
 *
 * <p>Usage: CuratorClient HOSTS SESSION_TIMEOUT_IN_MS NAMESPACE
 *
 * <p>Every line of the input is a JSON array: a number, what to do, the arguments. Every line of the output is a JSON
 * object: {"answer": number, "value" or "error": ...} or {"event": name, "value": ...}. All is done by one thread, as
 * Curator's locks belong to the thread that acquired them.
 */
// The caches that set one-shot watches again are deprecated for CuratorCache, which needs persistent ones.
@SuppressWarnings("deprecation")
public final class CuratorClient {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final CuratorFramework curator;
  private final Map<String, InterProcessMutex> locks = new HashMap<>();
  private final Map<String, InterProcessReadWriteLock> readWriteLocks = new HashMap<>();
  private final Map<String, LeaderLatch> latches = new HashMap<>();
  private final Map<String, InterProcessSemaphoreV2> semaphores = new HashMap<>();
  private final Map<String, Collection<Lease>> permits = new HashMap<>();
  private final Map<String, DistributedDoubleBarrier> doubleBarriers = new HashMap<>();
  private final List<Closeable> opened = new ArrayList<>();
  private final CuratorGroups groups;
  private final CuratorCaches caches;

  public static void main(String[] args) throws Exception {
    CuratorClient client = new CuratorClient(args[0], Integer.parseInt(args[1]), args[2]);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      JsonNode call = JSON.readTree(line);
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("answer", call.get(0).asInt());
      try {
        answer.put("value", client.call(call.get(1).asText(), new Arguments(call)));
      } catch (KeeperException error) {
        answer.put("error", error.code().name());
      }
      say(answer);
    }
    for (Closeable opened : client.opened) opened.close();
    client.curator.close();
  }

  private CuratorClient(String hosts, int sessionTimeout, String namespace) throws Exception {
    curator =
        CuratorFrameworkFactory.builder()
            .connectString(hosts)
            .namespace(namespace)
            .sessionTimeoutMs(sessionTimeout)
            .connectionTimeoutMs(10_000)
            .retryPolicy(new RetryForever(100))
            .build();
    curator.getConnectionStateListenable().addListener((__, state) -> event("state", state.name()));
    groups = new CuratorGroups(curator);
    opened.add(groups);
    caches = new CuratorCaches(curator);
    opened.add(caches);
    curator.start();
    curator.blockUntilConnected();
    event("ready", session());
  }

  private Object call(String what, Arguments args) throws Exception {
    String path = args.text(0, "/");
    switch (what) {
      case "create":
        return curator.create().withMode(args.mode(2)).forPath(path, args.bytes(1));
      case "createWithParents":
        return curator.create().creatingParentContainersIfNeeded().forPath(path, args.bytes(1));
      case "createProtected":
        return curator.create().withProtection().withMode(args.mode(2)).forPath(path, args.bytes(1));
      case "createWithAcl":
        return curator.create().withACL(args.acl(2)).forPath(path, args.bytes(1));
      case "get": {
        Stat stat = new Stat();
        byte[] data = curator.getData().storingStatIn(stat).forPath(path);
        return List.of(new String(data), fields(stat));
      }
      case "getAndWatch":
        return new String(curator.getData().usingWatcher(watcher()).forPath(path));
      case "existsAndWatch":
        return curator.checkExists().usingWatcher(watcher()).forPath(path) != null;
      case "removeWatches":
        return curator.watches().removeAll().forPath(path);
      case "exists": {
        Stat stat = curator.checkExists().forPath(path);
        return stat == null ? null : fields(stat);
      }
      case "set":
        return fields(curator.setData().withVersion(args.number(2, -1)).forPath(path, args.bytes(1)));
      case "delete":
        return curator.delete().withVersion(args.number(1, -1)).forPath(path);
      case "deleteWithChildren":
        return curator.delete().guaranteed().deletingChildrenIfNeeded().forPath(path);
      case "children":
        return curator.getChildren().forPath(path).stream().sorted().toList();
      case "acl":
        return curator.getACL().forPath(path).stream()
            .map(acl -> List.of(acl.getPerms(), acl.getId().getScheme(), acl.getId().getId()))
            .toList();
      case "addAuth":
        // Curator would do it when it connects; this is for one that has.
        curator.getZookeeperClient().getZooKeeper().addAuthInfo(path, args.bytes(1));
        return null;
      case "sync":
        return curator.sync().forPath(path);
      case "transaction":
        return transaction(args.rest());

      case "session":
        return session();
      case "server":
        // There is no other way to learn it.
        return curator.getZookeeperClient().getZooKeeper().toString().replaceAll(".*remoteserver:[^/]*/(\\S+) .*", "$1");

      case "acquire":
        return acquire(mutex(path), args);
      case "release":
        mutex(path).release();
        return null;
      case "participants":
        return mutex(path).getParticipantNodes().size();
      case "acquireRead":
        return acquire(readWriteLock(path).readLock(), args);
      case "releaseRead":
        readWriteLock(path).readLock().release();
        return null;
      case "acquireWrite":
        return acquire(readWriteLock(path).writeLock(), args);
      case "releaseWrite":
        readWriteLock(path).writeLock().release();
        return null;
      case "takeTurns":
        return takeTurns(path, args.text(1, ""), args.number(2, 1));
      case "takeReadWriteTurns":
        return takeReadWriteTurns(path, args.number(1, 1));
      case "leadTurns":
        return leadTurns(path, args.number(1, 1));
      case "takeLeases":
        return takeLeases(path, args.number(1, 1), args.number(2, 1));

      case "followPermits":
        followPermits(path);
        return null;
      case "acquirePermits":
        return acquirePermits(path, args.number(1, 1), args.number(2, 1), args.number(3, -1));
      case "releasePermits":
        semaphores.get(path).returnAll(permits.remove(path));
        return null;
      case "takePermits":
        return takePermits(path, args.number(1, 1), args.number(2, 1));

      case "enter":
        enter(path, args.text(1, ""));
        return null;
      case "leader":
        return latches.get(path).getLeader().getId();
      case "candidates":
        return latches.get(path).getParticipants().stream().map(each -> each.getId()).sorted().toList();
      case "leave":
        latches.remove(path).close();
        return null;

      case "watchNode":
        watchNode(path);
        return null;
      case "watchTree":
        watchTree(path);
        return null;
      case "keep": {
        PersistentNode node = new PersistentNode(curator, CreateMode.EPHEMERAL, false, path, args.bytes(1));
        opened.add(node);
        node.start();
        return node.waitForInitialCreate(30, TimeUnit.SECONDS);
      }
      case "count":
        return new DistributedAtomicLong(curator, path, new RetryForever(10)).add((long) args.number(1, 1)).postValue();
      case "compareAndSet":
        return new DistributedAtomicLong(curator, path, new RetryForever(10))
            .compareAndSet((long) args.number(1, 0), (long) args.number(2, 0))
            .succeeded();

      case "setBarrier":
        new DistributedBarrier(curator, path).setBarrier();
        return null;
      case "removeBarrier":
        new DistributedBarrier(curator, path).removeBarrier();
        return null;
      case "waitOnBarrier":
        return new DistributedBarrier(curator, path).waitOnBarrier(args.number(1, 0), TimeUnit.MILLISECONDS);
      case "enterBarrier":
        // Each round has a node of its own.
        doubleBarriers.put(path, new DistributedDoubleBarrier(curator, path, args.number(1, 1)));
        return doubleBarriers.get(path).enter(args.number(2, 0), TimeUnit.MILLISECONDS);
      case "leaveBarrier":
        return doubleBarriers.get(path).leave(args.number(1, 0), TimeUnit.MILLISECONDS);
      default:
        if (CuratorGroups.COMMANDS.contains(what)) return groups.call(what, args.call());
        if (CuratorCaches.COMMANDS.contains(what)) return caches.call(what, args.call());
        throw new IllegalArgumentException(what);
    }
  }

  private Object transaction(List<JsonNode> operations) throws Exception {
    TransactionOp op = curator.transactionOp();
    List<CuratorOp> ops = new ArrayList<>();
    for (JsonNode operation : operations) {
      String path = operation.get(1).asText();
      ops.add(
          switch (operation.get(0).asText()) {
            case "create" -> op.create().forPath(path, operation.get(2).asText().getBytes());
            case "set" -> op.setData().forPath(path, operation.get(2).asText().getBytes());
            case "delete" -> op.delete().forPath(path);
            case "check" -> op.check().withVersion(operation.get(2).asInt()).forPath(path);
            default -> throw new IllegalArgumentException(operation.toString());
          });
    }
    return curator.transaction().forOperations(ops).stream()
        .map(result -> List.of(result.getType().name(), result.getForPath(), result.getError()))
        .toList();
  }

  private String session() throws Exception {
    return Long.toHexString(curator.getZookeeperClient().getZooKeeper().getSessionId());
  }

  private InterProcessMutex mutex(String path) {
    return locks.computeIfAbsent(path, __ -> new InterProcessMutex(curator, path));
  }

  private InterProcessReadWriteLock readWriteLock(String path) {
    return readWriteLocks.computeIfAbsent(path, __ -> new InterProcessReadWriteLock(curator, path));
  }

  /** Waits for it, at most the ms of the second argument. */
  private static boolean acquire(InterProcessLock lock, Arguments args) throws Exception {
    int patience = args.number(1, -1);
    if (patience >= 0) return lock.acquire(patience, TimeUnit.MILLISECONDS);
    lock.acquire();
    return true;
  }

  /** Acquires and releases a lock, and returns when. Each turn adds one to the node `count`, without a version check. */
  private List<List<String>> takeTurns(String path, String count, int turns) throws Exception {
    List<List<String>> history = new ArrayList<>();
    InterProcessMutex lock = new InterProcessMutex(curator, path);
    for (int turn = 0; turn < turns; turn++) {
      lock.acquire();
      try {
        long began = System.nanoTime();
        long token = firstOf(lock.getParticipantNodes());
        int counted = Integer.parseInt(new String(curator.getData().forPath(count)));
        curator.setData().forPath(count, Integer.toString(counted + 1).getBytes());
        history.add(List.of(Long.toString(token), Long.toString(began), Long.toString(System.nanoTime())));
      } finally {
        lock.release();
      }
    }
    return history;
  }

  /** Reads and writes in turn, and returns which and when. */
  private List<List<String>> takeReadWriteTurns(String path, int turns) throws Exception {
    List<List<String>> history = new ArrayList<>();
    InterProcessReadWriteLock lock = new InterProcessReadWriteLock(curator, path);
    for (int turn = 0; turn < turns; turn++) {
      String mode = turn % 2 == 0 ? "shared" : "exclusive";
      InterProcessMutex half = turn % 2 == 0 ? lock.readLock() : lock.writeLock();
      half.acquire();
      try {
        history.add(turn(mode));
      } finally {
        half.release();
      }
    }
    return history;
  }

  /** Becomes a candidate, leads and resigns, and returns when. */
  private List<List<String>> leadTurns(String path, int turns) throws Exception {
    List<List<String>> history = new ArrayList<>();
    for (int turn = 0; turn < turns; turn++) {
      try (LeaderLatch latch = new LeaderLatch(curator, path)) {
        latch.start();
        latch.await();
        history.add(turn("exclusive"));
      }
    }
    return history;
  }

  private static List<String> turn(String mode) throws InterruptedException {
    long began = System.nanoTime();
    Thread.sleep(5);
    return List.of(mode, Long.toString(began), Long.toString(System.nanoTime()));
  }

  private long firstOf(Collection<String> participants) throws Exception {
    return curator.checkExists().forPath(participants.iterator().next()).getCzxid();
  }

  private List<Boolean> takeLeases(String path, int leases, int times) throws Exception {
    InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(curator, path, leases);
    List<Boolean> taken = new ArrayList<>();
    for (int time = 0; time < times; time++) taken.add(semaphore.acquire(0, TimeUnit.MILLISECONDS) != null);
    return taken;
  }

  /** From now on the semaphore of this path goes by the number that is stored there. */
  private void followPermits(String path) throws Exception {
    SharedCount count = new SharedCount(curator, path, 0);
    opened.add(count);
    count.start();
    semaphores.put(path, new InterProcessSemaphoreV2(curator, path, count));
  }

  private InterProcessSemaphoreV2 semaphore(String path, int leases) {
    return semaphores.computeIfAbsent(path, __ -> new InterProcessSemaphoreV2(curator, path, leases));
  }

  /** Waits for so many, at most the given ms. */
  private boolean acquirePermits(String path, int leases, int count, int patience) throws Exception {
    InterProcessSemaphoreV2 semaphore = semaphore(path, leases);
    Collection<Lease> taken =
        patience < 0 ? semaphore.acquire(count) : semaphore.acquire(count, patience, TimeUnit.MILLISECONDS);
    if (taken != null) permits.put(path, taken);
    return taken != null;
  }

  /** Takes one permit at a time, and returns when. Several are taken one by one, and two of these may wait for each other. */
  private List<List<String>> takePermits(String path, int leases, int turns) throws Exception {
    List<List<String>> history = new ArrayList<>();
    InterProcessSemaphoreV2 semaphore = semaphore(path, leases);
    for (int turn = 0; turn < turns; turn++) {
      Lease taken = semaphore.acquire();
      try {
        history.add(turn("permit"));
      } finally {
        semaphore.returnLease(taken);
      }
    }
    return history;
  }

  private void enter(String path, String id) throws Exception {
    LeaderLatch latch = new LeaderLatch(curator, path, id);
    latch.addListener(
        new LeaderLatchListener() {
          @Override
          public void isLeader() {
            event("leads", id);
          }

          @Override
          public void notLeader() {
            event("leads no more", id);
          }
        });
    latches.put(path, latch);
    latch.start();
  }

  private void watchNode(String path) throws Exception {
    NodeCache cache = new NodeCache(curator, path);
    opened.add(cache);
    cache.getListenable()
        .addListener(() -> event("node", cache.getCurrentData() == null ? null : text(cache.getCurrentData())));
    cache.start(true);
  }

  private void watchTree(String path) throws Exception {
    TreeCache cache = new TreeCache(curator, path);
    opened.add(cache);
    cache.getListenable()
        .addListener(
            (__, change) -> {
              ChildData node = change.getData();
              event(
                  "tree",
                  node == null
                      ? List.of(change.getType().name())
                      : List.of(change.getType().name(), node.getPath(), text(node)));
            });
    cache.start();
  }

  private static String text(ChildData node) {
    return new String(node.getData());
  }

  private static CuratorWatcher watcher() {
    return seen -> event("watch", List.of(seen.getType().name(), seen.getPath()));
  }

  private static Map<String, Object> fields(Stat stat) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("czxid", stat.getCzxid());
    fields.put("mzxid", stat.getMzxid());
    fields.put("ctime", stat.getCtime());
    fields.put("mtime", stat.getMtime());
    fields.put("version", stat.getVersion());
    fields.put("cversion", stat.getCversion());
    fields.put("aversion", stat.getAversion());
    // JSON's numbers are too short for it, for some readers.
    fields.put("ephemeralOwner", Long.toHexString(stat.getEphemeralOwner()));
    fields.put("dataLength", stat.getDataLength());
    fields.put("numChildren", stat.getNumChildren());
    fields.put("pzxid", stat.getPzxid());
    return fields;
  }

  private static void event(String name, Object value) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("event", name);
    event.put("value", value);
    say(event);
  }

  private static synchronized void say(Map<String, Object> message) {
    try {
      System.out.println(JSON.writeValueAsString(message));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** What stands behind the number and the name of a call. */
  private record Arguments(JsonNode call) {
    String text(int at, String otherwise) {
      return call.path(at + 2).asText(otherwise);
    }

    int number(int at, int otherwise) {
      return call.path(at + 2).asInt(otherwise);
    }

    byte[] bytes(int at) {
      return text(at, "").getBytes();
    }

    CreateMode mode(int at) {
      return CreateMode.valueOf(text(at, "PERSISTENT"));
    }

    /** As zkCli writes them: scheme:id:perms. */
    List<ACL> acl(int at) {
      return AclParser.parse(text(at, ""));
    }

    List<JsonNode> rest() {
      List<JsonNode> rest = new ArrayList<>();
      for (int at = 2; at < call.size(); at++) rest.add(call.get(at));
      return rest;
    }
  }
}
