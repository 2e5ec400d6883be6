import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Imports, lists, creates and edits products with java.net.http of Java 17 or later, and Jackson for JSON.
 *
 * <p>README.md describes the environment variables API_KEY, CATALOGUE_URL and CATALOGUE_CA.
 */
public class Example {
  private static final int ATTEMPTS = 5;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int PROGRESS_EVERY = 5;
  private static final Pattern NEXT = Pattern.compile("<([^>]*)>; rel=\"next\"");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String url;
  private final String key;
  private final HttpClient http;

  /** What was read from the body of a response, and the headers of the response. */
  record Response<T>(T body, HttpHeaders headers) {
    String etag() {
      return headers.firstValue("ETag").orElseThrow();
    }
  }

  /** Reads the body of a response. */
  interface BodyReader<T> {
    T read(InputStream body) throws IOException;
  }

  /** A response whose status is an error; its body says why. */
  static class Refused extends IOException {
    final int status;
    final Optional<Long> retryAfterSeconds;

    Refused(HttpResponse<InputStream> response) throws IOException {
      super(response.statusCode() + " " + new String(response.body().readAllBytes(), StandardCharsets.UTF_8));
      status = response.statusCode();
      // A proxy may give a date instead.
      retryAfterSeconds =
          response.headers().firstValue("Retry-After").filter(text -> text.matches("\\d{1,9}")).map(Long::valueOf);
    }

    boolean isTemporary() {
      return status == 429 || status == 503;
    }
  }

  Example(String url, String key, String caFile) throws IOException, GeneralSecurityException {
    this.url = url.replaceAll("/+$", "");
    this.key = key;
    var client = HttpClient.newBuilder().connectTimeout(TIMEOUT);
    if (caFile != null) client.sslContext(trusting(Path.of(caFile)));
    http = client.build();
  }

  private static SSLContext trusting(Path caFile) throws IOException, GeneralSecurityException {
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (var pem = Files.newInputStream(caFile)) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    var context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  /**
   * A request to a path below that of the service, which may have a path itself: https://host/shop. A link has that path
   * if the service knows it (PUBLIC_URL).
   */
  private HttpRequest.Builder request(String path) {
    var prefix = URI.create(url).getRawPath();
    var own = path.startsWith(prefix + "/") ? path.substring(prefix.length()) : path;
    return HttpRequest.newBuilder(URI.create(url + own)).header("Authorization", "Bearer " + key);
  }

  /**
   * Sends a request. Sends it again after a lost connection, and after 429 and 503 when the seconds in Retry-After have
   * passed. That is safe because every request here reads, or has an If-Match or an Idempotency-Key.
   */
  private <T> Response<T> send(HttpRequest request, BodyReader<T> reader) throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      long waitSeconds;
      String reason;
      try {
        var response = http.send(request, BodyHandlers.ofInputStream());
        try (var body = response.body()) {
          if (response.statusCode() >= 400) throw new Refused(response);
          return new Response<>(reader.read(body), response.headers());
        }
      } catch (Refused refused) {
        if (!refused.isTemporary() || attempt == ATTEMPTS) throw refused;
        reason = String.valueOf(refused.status);
        waitSeconds = refused.retryAfterSeconds.orElse((long) attempt);
      } catch (IOException lost) {
        if (attempt == ATTEMPTS) throw lost;
        reason = lost.toString();
        waitSeconds = attempt;
      }
      System.err.printf("%s %s: %s; again in %d s%n", request.method(), request.uri(), reason, waitSeconds);
      Thread.sleep(Duration.ofSeconds(waitSeconds).toMillis());
    }
  }

  /**
   * Sends a file of NDJSON, and prints the progress and each line that the service rejects. The key is a hash of the
   * content: the same file, sent again, creates only what is missing.
   */
  void importProducts(Path file) throws IOException, InterruptedException, GeneralSecurityException {
    var hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
    var request =
        request("/v1/products/imports")
            .header("Content-Type", "application/x-ndjson")
            .header("Idempotency-Key", HexFormat.of().formatHex(hash))
            .POST(BodyPublishers.ofFile(file))
            .build();
    send(request, Example::printResults);
  }

  private static Void printResults(InputStream body) throws IOException {
    int lines = 0;
    int errors = 0;
    var reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    for (String text = reader.readLine(); text != null; text = reader.readLine()) {
      var result = JSON.readTree(text);
      lines++;
      if (result.has("error")) {
        errors++;
        var error = result.get("error");
        var why = textOf(error.get("details"), "message", " ");
        System.out.printf(
            "import: line %d: %d %s: %s%n",
            result.get("line").asInt(),
            result.get("status").asInt(),
            error.get("code").asText(),
            why.isEmpty() ? error.get("message").asText() : why);
      }
      if (lines % PROGRESS_EVERY == 0) System.out.printf("import: %d lines, errors: %d%n", lines, errors);
    }
    System.out.printf("import: finished, %d lines, errors: %d%n", lines, errors);
    return null;
  }

  /** Gives page after page to a function, led by the `next` of the Link header (RFC 8288). */
  void list(Map<String, String> query, Consumer<JsonNode> use) throws IOException, InterruptedException {
    var path =
        query.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + URLEncoder.encode(entry.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&", "/v1/products?", ""));
    while (path != null) {
      var page = send(request(path).timeout(TIMEOUT).build(), JSON::readTree);
      use.accept(page.body());
      var next = NEXT.matcher(String.join(", ", page.headers().allValues("Link")));
      path = next.find() ? next.group(1) : null;
    }
  }

  /** Creates a product once, however often the request is sent. Returns the product. */
  JsonNode create(JsonNode product) throws IOException, InterruptedException {
    var request =
        request("/v1/products")
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .POST(BodyPublishers.ofString(product.toString()))
            .build();
    return send(request, JSON::readTree).body();
  }

  /**
   * Applies a change to a product, and to its newest state if another client has changed it in between (412), at most
   * five times. The change sets values and does not add to them, because after a lost response it meets what it has
   * written itself.
   */
  Response<JsonNode> edit(long id, Consumer<ObjectNode> change) throws IOException, InterruptedException {
    var path = "/v1/products/" + id;
    for (int attempt = 1; ; attempt++) {
      var current = send(request(path).timeout(TIMEOUT).build(), JSON::readTree);
      change.accept((ObjectNode) current.body());
      var request =
          request(path)
              .timeout(TIMEOUT)
              .header("Content-Type", "application/json")
              .header("If-Match", current.etag())
              .PUT(BodyPublishers.ofString(current.body().toString()))
              .build();
      try {
        return send(request, JSON::readTree);
      } catch (Refused refused) {
        if (refused.status != 412 || attempt == ATTEMPTS) throw refused;
        System.err.printf("PUT %s: 412; another client was faster, reading it again%n", path);
      }
    }
  }

  /** The text of one field of each object in an array. */
  private static String textOf(JsonNode array, String field, String separator) {
    return StreamSupport.stream(array.spliterator(), false)
        .map(node -> node.get(field).asText())
        .collect(Collectors.joining(separator));
  }

  public static void main(String[] arguments) throws Exception {
    var environment = System.getenv();
    var catalogue =
        new Example(
            environment.getOrDefault("CATALOGUE_URL", "https://localhost:8443"),
            environment.get("API_KEY"),
            environment.get("CATALOGUE_CA"));

    catalogue.importProducts(Path.of("products.ndjson"));

    var query = new LinkedHashMap<String, String>();
    query.put("sku.prefix", "EX-");
    query.put("price.currency", "EUR");
    query.put("price.amount.gte", "5000");
    query.put("sort", "name,-id");
    query.put("limit", "3");
    catalogue.list(query, page -> System.out.println("list: " + textOf(page, "name", ", ")));

    var lamp = JSON.createObjectNode().put("name", "Reading lamp");
    lamp.putObject("price").put("amount", 3900).put("currency", "EUR");
    var created = catalogue.create(lamp);
    System.out.printf("create: %s, id %d%n", created.get("name").asText(), created.get("id").asLong());

    var edited =
        catalogue.edit(
            created.get("id").asLong(), product -> product.withObject("/price").put("amount", 3500));
    var price = edited.body().get("price");
    System.out.printf(
        "edit: %s, %d %s, ETag %s%n",
        edited.body().get("name").asText(),
        price.get("amount").asLong(),
        price.get("currency").asText(),
        edited.etag());
  }
}
