import com.fasterxml.jackson.databind.JsonNode;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceInstanceBuilder;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;

/** Executes the commands about groups and services. */
final class CuratorGroups implements Closeable {
  static final Set<String> COMMANDS =
      Set.of(
          "joinGroup", "setGroupData", "groupMembers", "leaveGroup",
          "openServices", "register", "updateInstance", "unregister", "services", "instances");

  private final CuratorFramework curator;
  private final Map<String, GroupMember> members = new HashMap<>();
  private final Map<String, ServiceDiscovery<Object>> discoveries = new HashMap<>();

  CuratorGroups(CuratorFramework curator) {
    this.curator = curator;
  }

  /** A payload with a class of its own. */
  public static final class Details {
    public String region = "";
    public int weight;

    @Override
    public String toString() {
      return region + " " + weight;
    }
  }

  /** The arguments are a path, and one that depends on the command. */
  Object call(String what, JsonNode call) throws Exception {
    String path = call.path(2).asText();
    JsonNode argument = call.path(3);
    switch (what) {
      case "joinGroup": {
        GroupMember member = new GroupMember(curator, path, argument.asText(), call.path(4).asText().getBytes());
        members.put(path, member);
        member.start();
        return null;
      }
      case "setGroupData":
        members.get(path).setThisData(argument.asText().getBytes());
        return null;
      case "groupMembers": {
        Map<String, String> seen = new TreeMap<>();
        members.get(path).getCurrentMembers().forEach((id, data) -> seen.put(id, new String(data)));
        return seen;
      }
      case "leaveGroup":
        members.remove(path).close();
        return null;
      case "openServices": {
        boolean isCompatible = argument.asBoolean();
        open(path, discoveryAt(path).serializer(new JsonInstanceSerializer<>(Object.class, isCompatible)));
        return null;
      }
      case "register":
        discovery(path).registerService(instance(argument));
        return null;
      case "updateInstance":
        discovery(path).updateService(instance(argument));
        return null;
      case "unregister":
        discovery(path).unregisterService(instance(argument));
        return null;
      case "services":
        return discovery(path).queryForNames().stream().sorted().toList();
      case "instances":
        return discovery(path).queryForInstances(argument.asText()).stream().map(CuratorGroups::fields).toList();
      default:
        throw new IllegalArgumentException(what);
    }
  }

  @Override
  public void close() throws IOException {
    for (GroupMember member : members.values()) member.close();
    for (ServiceDiscovery<Object> discovery : discoveries.values()) discovery.close();
  }

  private ServiceDiscovery<Object> discovery(String path) throws Exception {
    if (!discoveries.containsKey(path)) open(path, discoveryAt(path));
    return discoveries.get(path);
  }

  private ServiceDiscoveryBuilder<Object> discoveryAt(String path) {
    return ServiceDiscoveryBuilder.builder(Object.class).client(curator).basePath(path);
  }

  private void open(String path, ServiceDiscoveryBuilder<Object> builder) throws Exception {
    ServiceDiscovery<Object> made = builder.build();
    made.start();
    discoveries.put(path, made);
  }

  private static ServiceInstance<Object> instance(JsonNode given) throws Exception {
    ServiceInstanceBuilder<Object> builder =
        ServiceInstance.<Object>builder()
            .name(given.get("name").asText())
            .id(given.get("id").asText())
            .address(given.path("address").asText("10.0.0.1"))
            .enabled(given.path("enabled").asBoolean(true));
    if (given.has("port")) builder.port(given.get("port").asInt());
    if (given.has("sslPort")) builder.sslPort(given.get("sslPort").asInt());
    if (given.has("uriSpec")) builder.uriSpec(new UriSpec(given.get("uriSpec").asText()));
    if (given.has("text")) builder.payload(given.get("text").asText());
    if (given.has("map")) builder.payload(new LinkedHashMap<>(Map.of("region", given.get("map").asText())));
    if (given.has("details")) {
      Details details = new Details();
      details.region = given.get("details").asText();
      details.weight = 3;
      builder.payload(details);
    }
    return builder.build();
  }

  private static Map<String, Object> fields(ServiceInstance<Object> instance) {
    Map<String, Object> fields = new LinkedHashMap<>();
    Object payload = instance.getPayload();
    fields.put("name", instance.getName());
    fields.put("id", instance.getId());
    fields.put("address", instance.getAddress());
    fields.put("port", instance.getPort());
    fields.put("sslPort", instance.getSslPort());
    fields.put("payload", payload == null ? List.of() : List.of(payload.getClass().getName(), payload.toString()));
    fields.put("registrationTimeUTC", instance.getRegistrationTimeUTC());
    fields.put("serviceType", instance.getServiceType().name());
    fields.put("uri", instance.buildUriSpec());
    fields.put("enabled", instance.isEnabled());
    return fields;
  }
}
