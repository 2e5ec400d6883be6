# Uses the client of `openapi-generator -g ruby`.
require 'uri'
require 'catalogue'

def check(condition, message)
  raise message unless condition
end

Catalogue.configure do |config|
  url = URI(ENV.fetch('CATALOGUE_URL'))
  config.scheme = url.scheme
  config.host = "#{url.host}:#{url.port}"
  config.server_index = nil
  config.access_token = ENV.fetch('CATALOGUE_TOKEN')
  config.ssl_ca_cert = ENV.fetch('CATALOGUE_CA')
end
products = Catalogue::ProductsApi.new

attributes = { 'colour' => 'green', 'watts' => 7.5, 'dimmable' => true }
created = ['rb lämp', 'rb lämp', 'rb chair'].each_with_index.map do |name, index|
  price = Catalogue::PriceInput.new(amount: 4990, currency: 'EUR')
  input = Catalogue::ProductInput.new(name: name, sku: "rb-#{index}", price: price, attributes: attributes)
  products.create_product(input, idempotency_key: "rb-#{index}")
end
shown = created[0].attributes.transform_keys(&:to_s)
check(shown == attributes, shown.inspect)

query = { sort: %w[name -id], limit: 2, name_prefix: 'rb ' }
page, _status, headers = products.list_products_with_http_info(query)
cursor = headers['Link'][/[?&]cursor=([^&>]+)[^>]*>; rel="next"/, 1]
rest = products.list_products(query.merge(cursor: URI.decode_www_form_component(cursor)))
ids = (page + rest).map(&:id)
check(ids == [created[2].id, created[1].id, created[0].id], ids.inspect)

id = created[0].id
patched, _status, headers = products.patch_product_with_http_info(id, Catalogue::ProductPatch.new(description: 'Brass', sku: nil))
check(patched.description == 'Brass' && patched.sku.nil?, patched.inspect)

replacement = Catalogue::ProductReplacement.new(name: 'rb desk lamp')
begin
  products.replace_product(id, replacement, if_match: '"1"')
  raise 'a stale If-Match is accepted'
rescue Catalogue::ApiError => e
  check(e.code == 412, e.inspect)
end
replaced = products.replace_product(id, replacement, if_match: headers['ETag'])
check(replaced.price.nil?, replaced.inspect)

products.delete_product(id)
begin
  products.get_product(id)
  raise 'the product is still there'
rescue Catalogue::ApiError => e
  check(e.code == 404, e.inspect)
end
