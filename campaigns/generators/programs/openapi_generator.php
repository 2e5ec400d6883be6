<?php
// Uses the client of `openapi-generator -g php`.
use Catalogue\ApiException;
use Catalogue\Api\ProductsApi;
use Catalogue\Configuration;
use Catalogue\Model\PriceInput;
use Catalogue\Model\ProductInput;
use Catalogue\Model\ProductPatch;
use Catalogue\Model\ProductReplacement;

require_once 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    if (str_starts_with($class, 'Catalogue\\'))
        require __DIR__ . '/lib/' . str_replace('\\', '/', substr($class, strlen('Catalogue\\'))) . '.php';
});

function check(bool $condition, mixed $value): void {
    if (!$condition) throw new Exception(var_export($value, true));
}

$configuration = (new Configuration())
    ->setHost(getenv('CATALOGUE_URL'))
    ->setAccessToken(getenv('CATALOGUE_TOKEN'));
$products = new ProductsApi(new GuzzleHttp\Client(['verify' => getenv('CATALOGUE_CA')]), $configuration);

$created = [];
foreach (['php lämp', 'php lämp', 'php chair'] as $index => $name) {
    $input = new ProductInput([
        'name' => $name,
        'sku' => "php-$index",
        'price' => new PriceInput(['amount' => 4990, 'currency' => 'EUR']),
        'attributes' => ['colour' => 'green', 'watts' => 7.5, 'dimmable' => true],
    ]);
    $created[] = $products->createProduct($input, "php-$index");
}
check((array) $created[0]->getAttributes() == ['colour' => 'green', 'watts' => 7.5, 'dimmable' => true], $created[0]);

$query = ['sort' => ['name', '-id'], 'limit' => 2, 'name_prefix' => 'php '];
[$page, , $headers] = $products->listProductsWithHttpInfo(...$query);
preg_match('/[?&]cursor=([^&>]+)[^>]*>; rel="next"/', $headers['Link'][0], $next);
$rest = $products->listProducts(...$query, cursor: urldecode($next[1]));
$ids = array_map(fn ($product) => $product->getId(), [...$page, ...$rest]);
check($ids === [$created[2]->getId(), $created[1]->getId(), $created[0]->getId()], $ids);

$id = $created[0]->getId();
$patch = new ProductPatch(['description' => 'Brass']);
$patch->setSku(null);
[$patched, , $headers] = $products->patchProductWithHttpInfo($id, $patch);
check($patched->getDescription() === 'Brass' && $patched->getSku() === null, $patched);

$replacement = new ProductReplacement(['name' => 'php desk lamp']);
try {
    $products->replaceProduct($id, $replacement, '"1"');
    throw new Exception('a stale If-Match is accepted');
} catch (ApiException $error) {
    check($error->getCode() === 412, $error->getMessage());
}
$replaced = $products->replaceProduct($id, $replacement, $headers['ETag'][0]);
check($replaced->getPrice() === null, $replaced);

$products->deleteProduct($id);
try {
    $products->getProduct($id);
    throw new Exception('the product is still there');
} catch (ApiException $error) {
    check($error->getCode() === 404, $error->getMessage());
}
