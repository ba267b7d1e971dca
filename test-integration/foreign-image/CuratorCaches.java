import com.fasterxml.jackson.databind.JsonNode;
import java.io.Closeable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;

/** Executes the commands about caches of whole trees. */
final class CuratorCaches implements Closeable {
  static final Set<String> COMMANDS = Set.of("openCaches", "cached", "memory");

  private final CuratorFramework curator;
  private final Map<String, CuratorCache> caches = new HashMap<>();

  CuratorCaches(CuratorFramework curator) {
    this.curator = curator;
  }

  /** The arguments are paths. */
  Object call(String what, JsonNode call) throws Exception {
    switch (what) {
      case "openCaches": {
        List<String> paths = new ArrayList<>();
        for (int at = 2; at < call.size(); at++) paths.add(call.get(at).asText());
        return open(paths);
      }
      case "cached": {
        Map<String, String> nodes = new TreeMap<>();
        caches.get(call.path(2).asText()).stream().forEach(node -> nodes.put(node.getPath(), new String(node.getData())));
        return nodes;
      }
      case "memory":
        return Map.of("heap", usedHeap(), "rss", residentSet(), "nodes", size());
      default:
        throw new IllegalArgumentException(what);
    }
  }

  /** Opens a cache of each path, all at once. Returns how long it takes until all is there, in ms. */
  private double open(List<String> paths) throws InterruptedException {
    CountDownLatch initialized = new CountDownLatch(paths.size());
    long began = System.nanoTime();
    for (String path : paths) {
      CuratorCache cache = CuratorCache.build(curator, path);
      caches.put(path, cache);
      cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(initialized::countDown).build());
      cache.start();
    }
    initialized.await();
    return (System.nanoTime() - began) / 1e6;
  }

  private int size() {
    return caches.values().stream().mapToInt(CuratorCache::size).sum();
  }

  /** In bytes, after a garbage collection. */
  private static long usedHeap() {
    System.gc();
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /** In bytes. */
  private static long residentSet() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
    }
    throw new IllegalStateException("no VmRSS");
  }

  @Override
  public void close() {
    for (CuratorCache cache : caches.values()) cache.close();
  }
}
