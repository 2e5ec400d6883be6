import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** Runs OpenSearch with its data in the folder of the argument, prints its port, and ends with its standard input. */
class SearchEngine extends Node {
  private SearchEngine(Environment environment) {
    super(environment, List.of(Netty4Plugin.class), false);
  }

  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.builder()
        .put("path.home", arguments[0])
        .put("discovery.type", "single-node")
        .put("http.type", "netty4")
        .put("http.port", "0")
        .put("transport.type", "netty4")
        .put("transport.port", "0")
        .put("cluster.routing.allocation.disk.threshold_enabled", false)
        .build();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "engine");
    try (SearchEngine engine = new SearchEngine(environment)) {
      engine.start();
      HttpServerTransport http = engine.injector().getInstance(HttpServerTransport.class);
      System.out.println("port " + http.boundAddress().publishAddress().getPort());
      System.in.read();
    }
  }
}
