import java.io.FileInputStream;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.ProductsApi;
import org.openapitools.client.model.PriceInput;
import org.openapitools.client.model.Product;
import org.openapitools.client.model.ProductInput;
import org.openapitools.client.model.ProductPatch;
import org.openapitools.client.model.ProductReplacement;

/** Uses the client of `openapi-generator -g java`. */
public class OpenapiGenerator {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("CATALOGUE_URL"));
    client.setBearerToken(System.getenv("CATALOGUE_TOKEN"));
    try (InputStream ca = new FileInputStream(System.getenv("CATALOGUE_CA"))) {
      client.setSslCaCert(ca);
    }
    ProductsApi products = new ProductsApi(client);

    List<Product> created = new ArrayList<>();
    for (String name : List.of("java lamp", "java lamp", "java chair")) {
      String key = "java-" + created.size();
      ProductInput input =
          new ProductInput()
              .name(name)
              .sku(key)
              .price(new PriceInput().amount(4990L).currency("EUR"))
              .attributes(Map.of("colour", "green", "watts", 7.5, "dimmable", true));
      created.add(products.createProduct(input).idempotencyKey(key).execute());
    }
    check(Map.of("colour", "green", "watts", 7.5, "dimmable", true).equals(created.get(0).getAttributes()), created);

    List<String> sort = List.of("name", "-id");
    ApiResponse<List<Product>> first =
        products.listProducts().sort(sort).limit(2).namePrefix("java ").executeWithHttpInfo();
    String link = String.join(", ", first.getHeaders().get("link"));
    Matcher next = Pattern.compile("[?&]cursor=([^&>]+)[^>]*>; rel=\"next\"").matcher(link);
    check(next.find(), link);
    String cursor = URLDecoder.decode(next.group(1), StandardCharsets.UTF_8);
    List<Product> listed = new ArrayList<>(first.getData());
    listed.addAll(products.listProducts().sort(sort).limit(2).namePrefix("java ").cursor(cursor).execute());
    check(listed.equals(List.of(created.get(2), created.get(1), created.get(0))), listed);

    long id = created.get(0).getId();
    ApiResponse<Product> patched =
        products.patchProduct(id, new ProductPatch().description("Brass")).executeWithHttpInfo();
    check("Brass".equals(patched.getData().getDescription()), patched.getData());

    ProductReplacement replacement = new ProductReplacement().name("java desk lamp");
    try {
      products.replaceProduct(id, replacement).ifMatch("\"1\"").execute();
      throw new AssertionError("a stale If-Match is accepted");
    } catch (ApiException error) {
      check(error.getCode() == 412 && error.getResponseBody().contains("precondition_failed"), error);
    }
    String tag = patched.getHeaders().get("etag").get(0);
    Product replaced = products.replaceProduct(id, replacement).ifMatch(tag).execute();
    check("java desk lamp".equals(replaced.getName()) && replaced.getPrice() == null, replaced);

    products.deleteProduct(id).execute();
    try {
      products.getProduct(id).execute();
      throw new AssertionError("the product is still there");
    } catch (ApiException error) {
      check(error.getCode() == 404, error);
    }
  }

  private static void check(boolean holds, Object seen) {
    if (!holds) throw new AssertionError(String.valueOf(seen));
  }
}
