// Curator as an adapter: java -cp 'LIB/*' CuratorAdapter.java, where LIB has the jars of curator-framework and what it needs
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.api.Pathable;
import org.apache.curator.framework.api.Watchable;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.ZooKeeper;

public final class CuratorAdapter {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static CuratorFramework curator;
  private static final List<String[]> credentials = new CopyOnWriteArrayList<>();

  private static void call(JsonNode ask) throws Exception {
    String path = ask.path("path").asText();
    byte[] data = ask.path("data").asText().getBytes(UTF_8);
    switch (ask.path("op").asText()) {
      case "connect" -> connect(ask.path("servers").asText(), ask.path("timeout").asInt());
      case "addAuth" -> {
        // Curator takes credentials before it connects, and gives them to the handle of each session, as `connect` does here.
        String[] credential = {ask.path("scheme").asText(), ask.path("auth").asText()};
        credentials.add(credential);
        curator.getZookeeperClient().getZooKeeper().addAuthInfo(credential[0], credential[1].getBytes(UTF_8));
      }
      case "create" -> curator.create().forPath(path, data);
      case "set" -> curator.setData().forPath(path, data);
      case "get" -> read(curator.getData(), path, ask);
      case "exists" -> read(curator.checkExists(), path, ask);
      case "children" -> read(curator.getChildren(), path, ask);
      case "watch" -> {
        boolean isRecursive = ask.path("recursive").asBoolean();
        AddWatchMode mode = isRecursive ? AddWatchMode.PERSISTENT_RECURSIVE : AddWatchMode.PERSISTENT;
        curator.watchers().add().withMode(mode).usingWatcher((CuratorWatcher) event -> {}).forPath(path);
      }
      case "close" -> curator.close();
      default -> throw new UnsupportedOperationException();
    }
  }

  private static void connect(String servers, int timeout) throws InterruptedException {
    curator =
        CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs(timeout)
            .retryPolicy((retries, elapsed, sleeper) -> false)
            .zookeeperFactory(
                (connectString, sessionTimeout, watcher, canBeReadOnly) -> {
                  ZooKeeper zk = new ZooKeeper(connectString, sessionTimeout, watcher, canBeReadOnly);
                  for (String[] each : credentials) zk.addAuthInfo(each[0], each[1].getBytes(UTF_8));
                  return zk;
                })
            .build();
    curator.start();
    curator.blockUntilConnected();
  }

  private static <T extends Pathable<?> & Watchable<? extends Pathable<?>>> void read(T read, String path, JsonNode ask)
      throws Exception {
    if (ask.path("watch").asBoolean()) read.usingWatcher((CuratorWatcher) event -> {}).forPath(path);
    else read.forPath(path);
  }

  public static void main(String[] args) throws Exception {
    for (Scanner lines = new Scanner(System.in, UTF_8); lines.hasNextLine(); ) {
      JsonNode ask = JSON.readTree(lines.nextLine());
      Thread thread = new Thread(() -> answer(ask));
      thread.setDaemon(true);
      thread.start();
    }
    System.exit(0);
  }

  private static void answer(JsonNode ask) {
    ObjectNode said = JSON.createObjectNode().put("id", ask.path("id").asInt());
    try {
      call(ask);
    } catch (Exception error) {
      said.put("error", error.toString());
    }
    System.out.println(said);
  }
}
