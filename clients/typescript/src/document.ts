export interface paths {
  '/v1/products': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List products
     * @description One page of the records that match all filters; `next` in `Link` is the URL of the next page.
     *
     *     Scope: `products:read`.
     *
     *     Errors: `invalid_parameter`, `invalid_cursor`, `cursor_mismatch`, `query_too_expensive`.
     */
    get: operations['listProducts'];
    put?: never;
    /**
     * Create a product
     * @description With an `Idempotency-Key`, the request can be sent again after any failure, and nothing is created twice.
     *
     *     Scope: `products:write`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `duplicate_value`, `invalid_idempotency_key`, `idempotency_key_reused`.
     */
    post: operations['createProduct'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    /**
     * Read a product
     * @description Send the `ETag` of the response in `If-Match` to write the record only if it is still the same.
     *
     *     Scope: `products:read`.
     *
     *     Errors: `invalid_parameter`.
     */
    get: operations['getProduct'];
    /**
     * Replace a product
     * @description The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.
     *
     *     Scope: `products:write`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `duplicate_value`, `invalid_parameter`, `precondition_failed`.
     */
    put: operations['replaceProduct'];
    post?: never;
    /**
     * Delete a product
     * @description Every later request for the record is 404, and its id is never used again.
     *
     *     Scope: `products:write`.
     *
     *     Errors: `invalid_parameter`, `precondition_failed`.
     */
    delete: operations['deleteProduct'];
    options?: never;
    head?: never;
    /**
     * Change a product
     * @description The body is a JSON Merge Patch (RFC 7396), in which `null` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without `If-Match`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.
     *
     *     Scope: `products:write` and `products:read`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `duplicate_value`, `invalid_parameter`, `precondition_failed`, `invalid_patch`, `patch_test_failed`.
     */
    patch: operations['patchProduct'];
    trace?: never;
  };
  '/v1/products/imports': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Import products
     * @description Each line of the body creates a record, and the response has a result for each line, in the same order. A bad line does not stop the others. With an `Idempotency-Key`, the lines can be sent again after any failure, and nothing is created twice. CSV begins with a header row, which names the columns; the records after it count from line 1; empty ones are ignored. If the header row is invalid, nothing is created. `price.amount` is in the smallest unit of the currency; `price.decimal` takes its place for the major unit: `19.99`.
     *
     *     Scope: `products:write`.
     *
     *     Errors: `invalid_idempotency_key`, `idempotency_key_reused`, `malformed_csv`, `validation_failed`, `payload_too_large`.
     */
    post: operations['importProducts'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/users': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List users
     * @description One page of the records that match all filters; `next` in `Link` is the URL of the next page.
     *
     *     Scope: `users:read`.
     *
     *     Errors: `invalid_parameter`, `invalid_cursor`, `cursor_mismatch`, `query_too_expensive`.
     */
    get: operations['listUsers'];
    put?: never;
    /**
     * Create a user
     * @description With an `Idempotency-Key`, the request can be sent again after any failure, and nothing is created twice.
     *
     *     Scope: `users:write`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `duplicate_value`, `invalid_idempotency_key`, `idempotency_key_reused`.
     */
    post: operations['createUser'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/users/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    /**
     * Read a user
     * @description Send the `ETag` of the response in `If-Match` to write the record only if it is still the same.
     *
     *     Scope: `users:read`.
     *
     *     Errors: `invalid_parameter`.
     */
    get: operations['getUser'];
    /**
     * Replace a user
     * @description The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.
     *
     *     Scope: `users:write`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `duplicate_value`, `invalid_parameter`, `precondition_failed`.
     */
    put: operations['replaceUser'];
    post?: never;
    /**
     * Delete a user
     * @description Every later request for the record is 404, and its id is never used again.
     *
     *     Scope: `users:write`.
     *
     *     Errors: `invalid_parameter`, `precondition_failed`.
     */
    delete: operations['deleteUser'];
    options?: never;
    head?: never;
    /**
     * Change a user
     * @description The body is a JSON Merge Patch (RFC 7396), in which `null` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without `If-Match`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.
     *
     *     Scope: `users:write` and `users:read`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `duplicate_value`, `invalid_parameter`, `precondition_failed`, `invalid_patch`, `patch_test_failed`.
     */
    patch: operations['patchUser'];
    trace?: never;
  };
  '/v1/users/imports': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Import users
     * @description Each line of the body creates a record, and the response has a result for each line, in the same order. A bad line does not stop the others. With an `Idempotency-Key`, the lines can be sent again after any failure, and nothing is created twice. CSV begins with a header row, which names the columns; the records after it count from line 1; empty ones are ignored. If the header row is invalid, nothing is created.
     *
     *     Scope: `users:write`.
     *
     *     Errors: `invalid_idempotency_key`, `idempotency_key_reused`, `malformed_csv`, `validation_failed`, `payload_too_large`.
     */
    post: operations['importUsers'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/orders': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List orders
     * @description One page of the records that match all filters; `next` in `Link` is the URL of the next page.
     *
     *     Scope: `orders:read`.
     *
     *     Errors: `invalid_parameter`, `invalid_cursor`, `cursor_mismatch`, `query_too_expensive`.
     */
    get: operations['listOrders'];
    put?: never;
    /**
     * Create an order
     * @description With an `Idempotency-Key`, the request can be sent again after any failure, and nothing is created twice.
     *
     *     Scope: `orders:write`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `invalid_idempotency_key`, `idempotency_key_reused`.
     */
    post: operations['createOrder'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/orders/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    /**
     * Read an order
     * @description Send the `ETag` of the response in `If-Match` to write the record only if it is still the same.
     *
     *     Scope: `orders:read`.
     *
     *     Errors: `invalid_parameter`.
     */
    get: operations['getOrder'];
    /**
     * Replace an order
     * @description The body is the complete record: an optional field that is left out loses its value. `id`, `version`, `createdAt` and `updatedAt` may be sent back unchanged. A record that does not exist is not created.
     *
     *     Scope: `orders:write`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `invalid_parameter`, `precondition_failed`.
     */
    put: operations['replaceOrder'];
    post?: never;
    /**
     * Delete an order
     * @description Every later request for the record is 404, and its id is never used again.
     *
     *     Scope: `orders:write`.
     *
     *     Errors: `invalid_parameter`, `precondition_failed`.
     */
    delete: operations['deleteOrder'];
    options?: never;
    head?: never;
    /**
     * Change an order
     * @description The body is a JSON Merge Patch (RFC 7396), in which `null` removes a field, or a JSON Patch (RFC 6902), which is applied as a whole or not at all. Without `If-Match`, the patch is applied to the latest version of the record, so changes that others make to other fields are not lost.
     *
     *     Scope: `orders:write` and `orders:read`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `invalid_parameter`, `precondition_failed`, `invalid_patch`, `patch_test_failed`.
     */
    patch: operations['patchOrder'];
    trace?: never;
  };
  '/v1/orders/imports': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Import orders
     * @description Each line of the body creates a record, and the response has a result for each line, in the same order. A bad line does not stop the others. With an `Idempotency-Key`, the lines can be sent again after any failure, and nothing is created twice.
     *
     *     Scope: `orders:write`.
     *
     *     Errors: `invalid_idempotency_key`, `idempotency_key_reused`.
     */
    post: operations['importOrders'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/api-keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List API keys
     * @description One page of the records that match all filters; `next` in `Link` is the URL of the next page.
     *
     *     Scope: `keys:admin`.
     *
     *     Errors: `invalid_parameter`, `invalid_cursor`, `cursor_mismatch`, `query_too_expensive`.
     */
    get: operations['listApiKeys'];
    put?: never;
    /**
     * Create an API key
     * @description Only this response shows the key itself. With an `Idempotency-Key`, a repeated request creates no second key, and does not show the first one again. The new key can have only scopes that the credential of the request has, and does not outlive it: by default it expires when the key of the request does, and within 90 days if a token of another issuer makes it.
     *
     *     Scope: `keys:admin`.
     *
     *     Errors: `malformed_json`, `validation_failed`, `invalid_idempotency_key`, `idempotency_key_reused`.
     */
    post: operations['createApiKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/api-keys/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    /**
     * Read an API key
     * @description Send the `ETag` of the response in `If-Match` to write the record only if it is still the same.
     *
     *     Scope: `keys:admin`.
     *
     *     Errors: `invalid_parameter`.
     */
    get: operations['getApiKey'];
    put?: never;
    post?: never;
    /**
     * Delete an API key
     * @description Every later request for the record is 404, and its id is never used again. The key is refused at once by the process that responds, and within five seconds by all others. The last key with `keys:admin` that has not expired stays.
     *
     *     Scope: `keys:admin`.
     *
     *     Errors: `invalid_parameter`, `precondition_failed`, `last_admin_key`.
     */
    delete: operations['deleteApiKey'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/oauth/token': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Get an access token
     * @description The client credentials grant (RFC 6749 section 4.4). The client is an API key: its id is the client id, and the key itself is the secret. Send both in the body, as described here, or leave them out of it and send them by HTTP Basic authentication. Errors also have the members `error` and `error_description` of RFC 6749 section 5.2.
     *
     *     Errors: `validation_failed`, `unauthenticated`, `invalid_token`, `token_expired`.
     */
    post: operations['createToken'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/.well-known/oauth-authorization-server': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the metadata of the authorization server (RFC 8414)
     * @description What OAuth 2.0 clients discover about `/oauth/token`.
     */
    get: operations['getIssuerMetadata'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/.well-known/oauth-protected-resource': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the metadata of the protected resource (RFC 9728)
     * @description From which issuers access tokens are accepted, and with which scopes.
     */
    get: operations['getResourceMetadata'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/oauth/jwks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the public keys that verify access tokens (RFC 7517)
     * @description A JSON Web Key Set. Keys change; the header `kid` of a token names its key.
     */
    get: operations['getKeys'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read this document
     * @description In OpenAPI 3.1, made from the rules by which requests are checked. `/docs` shows it as a web page.
     */
    get: operations['getOpenApi'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/docs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Open the interactive reference
     * @description A web page that shows this document and lets you try every operation.
     */
    get: operations['getDocs'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/docs/{file}': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description One of these names. */
        file: 'main.js' | 'base.css' | 'docs.css' | 'errors.json';
      };
      cookie?: never;
    };
    /**
     * Read a file of the interactive reference
     * @description The page at `/docs` loads these files.
     *
     *     Errors: `not_found`.
     */
    get: operations['getDocsFile'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/console': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Open the console
     * @description A web page on which people find, edit, import and export records, with an API key or access token.
     */
    get: operations['getConsole'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/console/{file}': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description One of these names. */
        file: 'main.js' | 'console.css';
      };
      cookie?: never;
    };
    /**
     * Read a file of the console
     * @description The page at `/console` loads these files.
     *
     *     Errors: `not_found`.
     */
    get: operations['getConsoleFile'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Find the parts of the service
     * @description Links to every collection and document, each a path without a host. A browser is redirected to `/docs`.
     */
    get: operations['getRoot'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/health/live': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Check that the process is alive
     * @description For load balancers and orchestrators. Needs no credential and is not counted by the rate limit.
     */
    get: operations['getLiveness'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/health/ready': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Check that the service is ready for requests
     * @description For load balancers and orchestrators. Needs no credential and is not counted by the rate limit.
     */
    get: operations['getReadiness'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description Every error has these members. */
    Error: {
      /**
       * @description What went wrong, for programs. Each operation lists its codes; there may be more in future.
       * @enum {string}
       */
      code:
        | 'cursor_mismatch'
        | 'duplicate_value'
        | 'expectation_failed'
        | 'headers_too_large'
        | 'idempotency_key_reused'
        | 'insufficient_scope'
        | 'internal_error'
        | 'invalid_cursor'
        | 'invalid_idempotency_key'
        | 'invalid_parameter'
        | 'invalid_patch'
        | 'invalid_token'
        | 'last_admin_key'
        | 'malformed_csv'
        | 'malformed_json'
        | 'not_acceptable'
        | 'not_found'
        | 'patch_test_failed'
        | 'payload_too_large'
        | 'precondition_failed'
        | 'query_too_expensive'
        | 'rate_limited'
        | 'request_timeout'
        | 'token_expired'
        | 'unauthenticated'
        | 'unavailable'
        | 'unknown_parameter'
        | 'unsupported_media_type'
        | 'unsupported_version'
        | 'uri_too_long'
        | 'validation_failed';
      /** @description For people to read. Programs should use `code`. */
      message: string;
      /** @description Everything that is wrong with the request; empty for other errors. */
      details: components['schemas']['ErrorDetail'][];
      /** @description From `/oauth/token` only (RFC 6749 section 5.2): `invalid_request`, `invalid_client`, `unsupported_grant_type`, `invalid_scope`, `temporarily_unavailable`. */
      error?: string;
      /** @description From `/oauth/token` only: the message in ASCII. */
      error_description?: string;
    };
    /** @description One thing that is wrong, and where it is. */
    ErrorDetail: {
      /** @description What is wrong, for programs: `required`, `too_long` and others. */
      code: string;
      /** @description For people to read. Programs should use `code`. */
      message: string;
      /**
       * @description The part of the request.
       * @enum {string}
       */
      in: 'body' | 'query' | 'header' | 'path';
      /** @description In the body: a JSON Pointer (RFC 6901) to the value. */
      pointer?: string;
      /** @description Elsewhere: the name of the parameter or header. */
      name?: string;
    };
    Product: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id: number;
      /** @description What buyers call the product: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description The text for buyers: at most 5000 characters, no lone surrogate, no control character but tab, line feed and carriage return. */
      description?: string;
      /** @description The stock keeping unit, which no two products share; upper and lower case differ: at most 64 of A-Z a-z 0-9 . _ -. */
      sku?: string;
      price?: components['schemas']['Price'];
      /** @description Properties of your own choice: an object of at most 50 keys (each at most 64 characters, no control character or lone surrogate), each value a string (at most 500 characters, no control character or lone surrogate), a number (from -9007199254740991 to 9007199254740991), true or false. */
      attributes?: {
        [key: string]: string | number | boolean;
      };
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
    };
    /** @description What one piece costs: an object with amount, currency. */
    Price: {
      /**
       * Format: int64
       * @description How much: an integer from 0, in the smallest unit of the currency (1999 is 19.99 EUR), at most 9007199254740991.
       */
      amount: number;
      /** @description The currency, as in ISO 4217: three capital letters, such as EUR. */
      currency: string;
    };
    ProductInput: {
      /** @description What buyers call the product: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description The text for buyers: at most 5000 characters, no lone surrogate, no control character but tab, line feed and carriage return. */
      description?: string;
      /** @description The stock keeping unit, which no two products share; upper and lower case differ: at most 64 of A-Z a-z 0-9 . _ -. */
      sku?: string;
      price?: components['schemas']['PriceInput'];
      /** @description Properties of your own choice: an object of at most 50 keys (each at most 64 characters, no control character or lone surrogate), each value a string (at most 500 characters, no control character or lone surrogate), a number (from -9007199254740991 to 9007199254740991), true or false. */
      attributes?: {
        [key: string]: string | number | boolean;
      };
    };
    /** @description What one piece costs: an object with amount, currency. */
    PriceInput: {
      /**
       * Format: int64
       * @description How much: an integer from 0, in the smallest unit of the currency (1999 is 19.99 EUR), at most 9007199254740991.
       */
      amount: number;
      /** @description The currency, as in ISO 4217: three capital letters, such as EUR. */
      currency: string;
    };
    ProductReplacement: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id?: number;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /** @description What buyers call the product: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description The text for buyers: at most 5000 characters, no lone surrogate, no control character but tab, line feed and carriage return. */
      description?: string;
      /** @description The stock keeping unit, which no two products share; upper and lower case differ: at most 64 of A-Z a-z 0-9 . _ -. */
      sku?: string;
      price?: components['schemas']['PriceInput'];
      /** @description Properties of your own choice: an object of at most 50 keys (each at most 64 characters, no control character or lone surrogate), each value a string (at most 500 characters, no control character or lone surrogate), a number (from -9007199254740991 to 9007199254740991), true or false. */
      attributes?: {
        [key: string]: string | number | boolean;
      };
    };
    ProductPatch: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id?: number;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /** @description What buyers call the product: at most 200 characters, not only white space, no control character or lone surrogate. */
      name?: string;
      /** @description The text for buyers: at most 5000 characters, no lone surrogate, no control character but tab, line feed and carriage return. */
      description?: string | null;
      /** @description The stock keeping unit, which no two products share; upper and lower case differ: at most 64 of A-Z a-z 0-9 . _ -. */
      sku?: string | null;
      /** @description What one piece costs: an object with amount, currency. */
      price?: {
        /**
         * Format: int64
         * @description How much: an integer from 0, in the smallest unit of the currency (1999 is 19.99 EUR), at most 9007199254740991.
         */
        amount?: number;
        /** @description The currency, as in ISO 4217: three capital letters, such as EUR. */
        currency?: string;
      } | null;
      /** @description Properties of your own choice: an object of at most 50 keys (each at most 64 characters, no control character or lone surrogate), each value a string (at most 500 characters, no control character or lone surrogate), a number (from -9007199254740991 to 9007199254740991), true or false. */
      attributes?: {
        [key: string]: string | number | boolean | null;
      } | null;
    };
    JsonPatch: components['schemas']['JsonPatchOperation'][];
    JsonPatchOperation: {
      /**
       * @description What to do.
       * @enum {string}
       */
      op: 'add' | 'replace' | 'test' | 'remove' | 'move' | 'copy';
      /**
       * Format: json-pointer
       * @description The place in the record, a JSON Pointer (RFC 6901).
       */
      path: string;
      /**
       * Format: json-pointer
       * @description Required for `move` and `copy`: the place of the value.
       */
      from?: string;
      /** @description Required for `add`, `replace` and `test`: any JSON value. */
      value?: unknown;
    };
    ImportResult: {
      /**
       * Format: int64
       * @description The number of the line, counted from 1 without blank ones.
       */
      line: number;
      /** @description 201, or the status that a request with this record alone would get. */
      status: number;
      /**
       * Format: int64
       * @description With 201: the id of the new record.
       */
      id?: number;
      /** @description With 201: true if an earlier request with this `Idempotency-Key` created the record. */
      replayed?: boolean;
      error?: components['schemas']['Error'];
    };
    User: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id: number;
      /** @description What the user is called: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description The e-mail address, kept as sent; no two users share one, not even in upper and lower case: at most 254 characters, an ASCII address such as ann@example.com. */
      email: string;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
    };
    UserInput: {
      /** @description What the user is called: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description The e-mail address, kept as sent; no two users share one, not even in upper and lower case: at most 254 characters, an ASCII address such as ann@example.com. */
      email: string;
    };
    UserReplacement: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id?: number;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /** @description What the user is called: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description The e-mail address, kept as sent; no two users share one, not even in upper and lower case: at most 254 characters, an ASCII address such as ann@example.com. */
      email: string;
    };
    UserPatch: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id?: number;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /** @description What the user is called: at most 200 characters, not only white space, no control character or lone surrogate. */
      name?: string;
      /** @description The e-mail address, kept as sent; no two users share one, not even in upper and lower case: at most 254 characters, an ASCII address such as ann@example.com. */
      email?: string;
    };
    Order: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id: number;
      /**
       * Format: int64
       * @description The user who orders: the id of one of the users, an integer from 1.
       */
      userId: number;
      /** @description What is ordered: an array of 1 to 100, each an object with productId, quantity, no two with the same productId. */
      items: components['schemas']['OrderItem'][];
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
    };
    /** @description One product of the order: an object with productId, quantity. */
    OrderItem: {
      /**
       * Format: int64
       * @description The product: the id of one of the products, an integer from 1.
       */
      productId: number;
      /** @description How many of it: an integer from 1 to 1000000, in pieces. */
      quantity: number;
    };
    OrderInput: {
      /**
       * Format: int64
       * @description The user who orders: the id of one of the users, an integer from 1.
       */
      userId: number;
      /** @description What is ordered: an array of 1 to 100, each an object with productId, quantity, no two with the same productId. */
      items: components['schemas']['OrderItemInput'][];
    };
    /** @description One product of the order: an object with productId, quantity. */
    OrderItemInput: {
      /**
       * Format: int64
       * @description The product: the id of one of the products, an integer from 1.
       */
      productId: number;
      /** @description How many of it: an integer from 1 to 1000000, in pieces. */
      quantity: number;
    };
    OrderReplacement: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id?: number;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /**
       * Format: int64
       * @description The user who orders: the id of one of the users, an integer from 1.
       */
      userId: number;
      /** @description What is ordered: an array of 1 to 100, each an object with productId, quantity, no two with the same productId. */
      items: components['schemas']['OrderItemInput'][];
    };
    OrderPatch: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id?: number;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the record was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt?: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /**
       * Format: int64
       * @description The user who orders: the id of one of the users, an integer from 1.
       */
      userId?: number;
      /** @description What is ordered: an array of 1 to 100, each an object with productId, quantity, no two with the same productId. */
      items?: components['schemas']['OrderItemInput'][];
    };
    ApiKey: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id: number;
      /** @description What uses the key: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description What the key allows: an array of 1 to 7, each one of products:read, products:write, users:read, users:write, orders:read, orders:write, keys:admin, no two the same. */
      scopes: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the key ends; a key without it never does: a time such as 2030-01-31T00:00:00Z (RFC 3339), in the future, until the end of the year 9999.
       */
      expiresAt?: string;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the key was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /**
       * Format: date-time
       * @description When the key was last used, to the minute: RFC 3339, in UTC.
       */
      lastUsedAt?: string;
      /**
       * Format: int64
       * @description The id of the key that made this key, also by an access token; absent for the first key and those of the command line: an integer from 1, at most 9007199254740991.
       */
      createdBy?: number;
      /** @description The subject of another issuer's token that made this key, which then expires within 90 days: at most 16384 characters, no control character or lone surrogate. */
      createdBySubject?: string;
      usage?: components['schemas']['ApiKeyUsage'];
    };
    /**
     * @description A permission: one of products:read, products:write, users:read, users:write, orders:read, orders:write, keys:admin.
     * @enum {string}
     */
    Scope:
      | 'products:read'
      | 'products:write'
      | 'users:read'
      | 'users:write'
      | 'orders:read'
      | 'orders:write'
      | 'keys:admin';
    /** @description The requests of the last 24 hours that the key made, and access tokens that were issued for it, with any response. Complete to about ten seconds; a process that crashes loses those. Only GET of one key shows it, and only if there are any. */
    ApiKeyUsage: {
      /**
       * Format: date-time
       * @description The beginning of the first hour that is counted, 24 to 25 hours ago.
       */
      since: string;
      /**
       * Format: int64
       * @description The number of requests.
       */
      requests: number;
      /** @description By method and route, the most requests first. */
      byRoute: {
        /** @description The method of HTTP. */
        method: string;
        /** @description The template of the path. */
        route: string;
        /** @description The version of the API. */
        version: number;
        /**
         * Format: int64
         * @description The number of requests.
         */
        requests: number;
      }[];
    };
    ApiKeyInput: {
      /** @description What uses the key: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description What the key allows: an array of 1 to 7, each one of products:read, products:write, users:read, users:write, orders:read, orders:write, keys:admin, no two the same. */
      scopes: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the key ends; a key without it never does: a time such as 2030-01-31T00:00:00Z (RFC 3339), in the future, until the end of the year 9999.
       */
      expiresAt?: string;
    };
    IssuedApiKey: {
      /**
       * Format: int64
       * @description The id, which the service gives: an integer from 1.
       */
      id: number;
      /** @description What uses the key: at most 200 characters, not only white space, no control character or lone surrogate. */
      name: string;
      /** @description What the key allows: an array of 1 to 7, each one of products:read, products:write, users:read, users:write, orders:read, orders:write, keys:admin, no two the same. */
      scopes: components['schemas']['Scope'][];
      /**
       * Format: date-time
       * @description When the key ends; a key without it never does: a time such as 2030-01-31T00:00:00Z (RFC 3339), in the future, until the end of the year 9999.
       */
      expiresAt?: string;
      /**
       * Format: int64
       * @description The version: 1 for a new record, and one more after each change.
       */
      version?: number;
      /**
       * Format: date-time
       * @description When the key was created, to the millisecond: RFC 3339, in UTC.
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When the record was last changed, to the millisecond: RFC 3339, in UTC.
       */
      updatedAt?: string;
      /**
       * Format: date-time
       * @description When the key was last used, to the minute: RFC 3339, in UTC.
       */
      lastUsedAt?: string;
      /**
       * Format: int64
       * @description The id of the key that made this key, also by an access token; absent for the first key and those of the command line: an integer from 1, at most 9007199254740991.
       */
      createdBy?: number;
      /** @description The subject of another issuer's token that made this key, which then expires within 90 days: at most 16384 characters, no control character or lone surrogate. */
      createdBySubject?: string;
      usage?: components['schemas']['ApiKeyUsage'];
      /** @description The key itself, shown only in this response. */
      key?: string;
    };
    TokenRequest: {
      /**
       * @description The client is an API key (RFC 6749 section 4.4).
       * @enum {string}
       */
      grant_type: 'client_credentials';
      /** @description Scopes, separated by spaces. The API key must have each of them. By default, all scopes of the key. */
      scope?: string;
      /** @description The id of an API key, unless the header `Authorization` is used. */
      client_id?: string;
      /** @description The API key itself. */
      client_secret?: string;
    };
    Token: {
      /** @description A JWT (RFC 9068), to be sent as `Authorization: Bearer`. */
      access_token: string;
      /** @description Always `Bearer`. */
      token_type: string;
      /** @description The lifetime of the token, in seconds. */
      expires_in: number;
      /** @description Scopes, separated by spaces. */
      scope: string;
    };
    IssuerMetadata: {
      /**
       * Format: uri
       * @description The `iss` of every token.
       */
      issuer: string;
      /**
       * Format: uri
       * @description The URL that grants tokens.
       */
      token_endpoint: string;
      /**
       * Format: uri
       * @description The URL of the public keys.
       */
      jwks_uri: string;
      /** @description The scopes that a token can have. */
      scopes_supported: components['schemas']['Scope'][];
      /** @description Empty: there is no authorization endpoint. */
      response_types_supported: string[];
      /** @description The grants of the token endpoint. */
      grant_types_supported: string[];
      /** @description How a client sends its secret. */
      token_endpoint_auth_methods_supported: string[];
    };
    ResourceMetadata: {
      /**
       * Format: uri
       * @description The `aud` of every token.
       */
      resource: string;
      /** @description The issuers whose tokens are accepted. */
      authorization_servers: string[];
      /** @description The scopes that operations ask for. */
      scopes_supported: components['schemas']['Scope'][];
      /** @description Where a token is sent: in the header `Authorization`. */
      bearer_methods_supported: string[];
      /** @description The name of the service, for people. */
      resource_name: string;
    };
    KeySet: {
      /** @description The keys. */
      keys: {
        /** @description The type of the key. */
        kty: string;
        /** @description The id of the key, which tokens name. */
        kid: string;
        /** @description The algorithm of its signatures. */
        alg: string;
        /** @description What it is for: signatures. */
        use: string;
        /** @description The modulus, in base64url. */
        n: string;
        /** @description The exponent, in base64url. */
        e: string;
      }[];
    };
    Links: {
      /**
       * Format: uri-reference
       * @description The path of `products`.
       */
      products: string;
      /**
       * Format: uri-reference
       * @description The path of `users`.
       */
      users: string;
      /**
       * Format: uri-reference
       * @description The path of `orders`.
       */
      orders: string;
      /**
       * Format: uri-reference
       * @description The path of `apiKeys`.
       */
      apiKeys: string;
      /**
       * Format: uri-reference
       * @description The path of `openapi`.
       */
      openapi: string;
      /**
       * Format: uri-reference
       * @description The path of `docs`.
       */
      docs: string;
      /**
       * Format: uri-reference
       * @description The path of `console`.
       */
      console: string;
      /**
       * Format: uri-reference
       * @description The path of `health`.
       */
      health: string;
      /**
       * Format: uri-reference
       * @description The path of `authorizationServer`.
       */
      authorizationServer: string;
      /**
       * Format: uri-reference
       * @description The path of `protectedResource`.
       */
      protectedResource: string;
    };
    Health: {
      /** @description Always `ok`. */
      status: string;
    };
  };
  responses: {
    /** @description The client already has the current state, according to `If-None-Match`. */
    NotModified: {
      headers: {
        [name: string]: unknown;
      };
      content?: never;
    };
    /** @description Any other error: `expectation_failed`, `headers_too_large`, `internal_error`, `not_acceptable`, `request_timeout`, `uri_too_long`. */
    OtherError: {
      headers: {
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
  };
  parameters: {
    /** @description The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent. */
    limit: number;
    /** @description A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters. */
    cursor: string;
    /** @description Words of letters and digits, each the beginning of a word of the record: `lam gre` finds "Green Lamp". Upper and lower case and accents make no difference. At least one word and at most 10, each of at most 64 characters. Of a record the first 8,000 different words count. */
    search: string;
    /** @description `id` is this. */
    'filter.id.eq': number;
    'filter.id.ne': number;
    'filter.id.lt': number;
    'filter.id.lte': number;
    'filter.id.gt': number;
    'filter.id.gte': number;
    'filter.id.in': number[];
    /** @description `createdAt` is this. */
    'filter.createdAt.eq': string;
    'filter.createdAt.ne': string;
    'filter.createdAt.lt': string;
    'filter.createdAt.lte': string;
    'filter.createdAt.gt': string;
    'filter.createdAt.gte': string;
    'filter.createdAt.in': string[];
    /** @description `updatedAt` is this. */
    'filter.updatedAt.eq': string;
    'filter.updatedAt.ne': string;
    'filter.updatedAt.lt': string;
    'filter.updatedAt.lte': string;
    'filter.updatedAt.gt': string;
    'filter.updatedAt.gte': string;
    'filter.updatedAt.in': string[];
    /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
    KnownTags: string;
    /** @description `count=exact` asks for the number of matching records, in `X-Total-Count`. */
    PreferCount: string;
    /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
    IdempotencyKey: string;
    /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
    Id: number;
    /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
    IfMatch: string;
    /** @description Carries out the request only if the current `ETag` of the record is not among these, such as `"3"` (RFC 9110 section 13.1.2). */
    IfNoneMatch: string;
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listProducts: {
    parameters: {
      query?: {
        /** @description The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent. */
        limit?: components['parameters']['limit'];
        /** @description A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters. */
        cursor?: components['parameters']['cursor'];
        /** @description The fields to sort by, the most important first, each at most once. A minus sign reverses the order of a field. Ties are broken by `id`, ascending. */
        sort?: ('id' | '-id' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'name' | '-name')[];
        /** @description Words of letters and digits, each the beginning of a word of the record: `lam gre` finds "Green Lamp". Upper and lower case and accents make no difference. At least one word and at most 10, each of at most 64 characters. Of a record the first 8,000 different words count. */
        q?: components['parameters']['search'];
        /** @description `id` is this. */
        id?: components['parameters']['filter.id.eq'];
        'id.ne'?: components['parameters']['filter.id.ne'];
        'id.lt'?: components['parameters']['filter.id.lt'];
        'id.lte'?: components['parameters']['filter.id.lte'];
        'id.gt'?: components['parameters']['filter.id.gt'];
        'id.gte'?: components['parameters']['filter.id.gte'];
        'id.in'?: components['parameters']['filter.id.in'];
        /** @description `createdAt` is this. */
        createdAt?: components['parameters']['filter.createdAt.eq'];
        'createdAt.ne'?: components['parameters']['filter.createdAt.ne'];
        'createdAt.lt'?: components['parameters']['filter.createdAt.lt'];
        'createdAt.lte'?: components['parameters']['filter.createdAt.lte'];
        'createdAt.gt'?: components['parameters']['filter.createdAt.gt'];
        'createdAt.gte'?: components['parameters']['filter.createdAt.gte'];
        'createdAt.in'?: components['parameters']['filter.createdAt.in'];
        /** @description `updatedAt` is this. */
        updatedAt?: components['parameters']['filter.updatedAt.eq'];
        'updatedAt.ne'?: components['parameters']['filter.updatedAt.ne'];
        'updatedAt.lt'?: components['parameters']['filter.updatedAt.lt'];
        'updatedAt.lte'?: components['parameters']['filter.updatedAt.lte'];
        'updatedAt.gt'?: components['parameters']['filter.updatedAt.gt'];
        'updatedAt.gte'?: components['parameters']['filter.updatedAt.gte'];
        'updatedAt.in'?: components['parameters']['filter.updatedAt.in'];
        /** @description `name` is this. */
        name?: string;
        'name.ne'?: string;
        'name.lt'?: string;
        'name.lte'?: string;
        'name.gt'?: string;
        'name.gte'?: string;
        'name.in'?: string[];
        'name.prefix'?: string;
        /** @description `sku` is this. */
        sku?: string;
        'sku.ne'?: string;
        'sku.lt'?: string;
        'sku.lte'?: string;
        'sku.gt'?: string;
        'sku.gte'?: string;
        'sku.in'?: string[];
        'sku.prefix'?: string;
        'sku.exists'?: boolean;
        'price.amount'?: number;
        'price.amount.ne'?: number;
        'price.amount.lt'?: number;
        'price.amount.lte'?: number;
        'price.amount.gt'?: number;
        'price.amount.gte'?: number;
        'price.amount.in'?: number[];
        'price.amount.exists'?: boolean;
        'price.currency'?: string;
        'price.currency.ne'?: string;
        'price.currency.lt'?: string;
        'price.currency.lte'?: string;
        'price.currency.gt'?: string;
        'price.currency.gte'?: string;
        'price.currency.in'?: string[];
        'price.currency.prefix'?: string;
        'price.currency.exists'?: boolean;
        /** @description `attributes.KEY`: the attribute with this key has this value. Values are compared as text. Everything after the first dot is the key, dots and colons included. Or `attributes[KEY]`. */
        attributes?: {
          [key: string]: string;
        };
        /** @description Show only these fields. Name `id`, `name` too, so that the response has the members that its schema requires; without them, the service shows the others. With `Accept: text/csv` these are the columns, in this order, and `price.amount`, `price.currency`, `price.decimal` (`amount` in the major unit), `attributes.KEY` are names too. */
        fields?: (
          | 'id'
          | 'name'
          | 'description'
          | 'sku'
          | 'price'
          | 'attributes'
          | 'version'
          | 'createdAt'
          | 'updatedAt'
        )[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
        /** @description `count=exact` asks for the number of matching records, in `X-Total-Count`. */
        Prefer?: components['parameters']['PreferCount'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of products, or all of them as NDJSON or CSV. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'][];
          'text/csv': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  createProduct: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ProductInput'];
      };
    };
    responses: {
      /** @description The new record. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getProduct: {
    parameters: {
      query?: {
        /** @description Show only these fields. Name `id`, `name` too, so that the response has the members that its schema requires; without them, the service shows the others. */
        fields?: (
          | 'id'
          | 'name'
          | 'description'
          | 'sku'
          | 'price'
          | 'attributes'
          | 'version'
          | 'createdAt'
          | 'updatedAt'
        )[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  replaceProduct: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
        /** @description Carries out the request only if the current `ETag` of the record is not among these, such as `"3"` (RFC 9110 section 13.1.2). */
        'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ProductReplacement'];
      };
    };
    responses: {
      /** @description The record as it is now. If the request changes nothing, `version` and `ETag` stay the same. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  deleteProduct: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record was deleted. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  patchProduct: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/merge-patch+json': components['schemas']['ProductPatch'];
        'application/json-patch+json': components['schemas']['JsonPatch'];
        'application/json': components['schemas']['ProductPatch'];
      };
    };
    responses: {
      /** @description The record as it is now. If the request changes nothing, `version` and `ETag` stay the same. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  importProducts: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'text/csv': string;
      };
    };
    responses: {
      /** @description The result of each line. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  listUsers: {
    parameters: {
      query?: {
        /** @description The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent. */
        limit?: components['parameters']['limit'];
        /** @description A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters. */
        cursor?: components['parameters']['cursor'];
        /** @description The fields to sort by, the most important first, each at most once. A minus sign reverses the order of a field. Ties are broken by `id`, ascending. */
        sort?: (
          | 'id'
          | '-id'
          | 'createdAt'
          | '-createdAt'
          | 'updatedAt'
          | '-updatedAt'
          | 'name'
          | '-name'
          | 'email'
          | '-email'
        )[];
        /** @description Words of letters and digits, each the beginning of a word of the record: `lam gre` finds "Green Lamp". Upper and lower case and accents make no difference. At least one word and at most 10, each of at most 64 characters. Of a record the first 8,000 different words count. */
        q?: components['parameters']['search'];
        /** @description `id` is this. */
        id?: components['parameters']['filter.id.eq'];
        'id.ne'?: components['parameters']['filter.id.ne'];
        'id.lt'?: components['parameters']['filter.id.lt'];
        'id.lte'?: components['parameters']['filter.id.lte'];
        'id.gt'?: components['parameters']['filter.id.gt'];
        'id.gte'?: components['parameters']['filter.id.gte'];
        'id.in'?: components['parameters']['filter.id.in'];
        /** @description `createdAt` is this. */
        createdAt?: components['parameters']['filter.createdAt.eq'];
        'createdAt.ne'?: components['parameters']['filter.createdAt.ne'];
        'createdAt.lt'?: components['parameters']['filter.createdAt.lt'];
        'createdAt.lte'?: components['parameters']['filter.createdAt.lte'];
        'createdAt.gt'?: components['parameters']['filter.createdAt.gt'];
        'createdAt.gte'?: components['parameters']['filter.createdAt.gte'];
        'createdAt.in'?: components['parameters']['filter.createdAt.in'];
        /** @description `updatedAt` is this. */
        updatedAt?: components['parameters']['filter.updatedAt.eq'];
        'updatedAt.ne'?: components['parameters']['filter.updatedAt.ne'];
        'updatedAt.lt'?: components['parameters']['filter.updatedAt.lt'];
        'updatedAt.lte'?: components['parameters']['filter.updatedAt.lte'];
        'updatedAt.gt'?: components['parameters']['filter.updatedAt.gt'];
        'updatedAt.gte'?: components['parameters']['filter.updatedAt.gte'];
        'updatedAt.in'?: components['parameters']['filter.updatedAt.in'];
        /** @description `name` is this. */
        name?: string;
        'name.ne'?: string;
        'name.lt'?: string;
        'name.lte'?: string;
        'name.gt'?: string;
        'name.gte'?: string;
        'name.in'?: string[];
        'name.prefix'?: string;
        /** @description `email` is this. */
        email?: string;
        'email.ne'?: string;
        'email.lt'?: string;
        'email.lte'?: string;
        'email.gt'?: string;
        'email.gte'?: string;
        'email.in'?: string[];
        'email.prefix'?: string;
        /** @description Show only these fields. Name `id`, `name`, `email` too, so that the response has the members that its schema requires; without them, the service shows the others. With `Accept: text/csv` these are the columns, in this order. */
        fields?: ('id' | 'name' | 'email' | 'version' | 'createdAt' | 'updatedAt')[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
        /** @description `count=exact` asks for the number of matching records, in `X-Total-Count`. */
        Prefer?: components['parameters']['PreferCount'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of users, or all of them as NDJSON or CSV. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['User'][];
          'text/csv': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  createUser: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UserInput'];
      };
    };
    responses: {
      /** @description The new record. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['User'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getUser: {
    parameters: {
      query?: {
        /** @description Show only these fields. Name `id`, `name`, `email` too, so that the response has the members that its schema requires; without them, the service shows the others. */
        fields?: ('id' | 'name' | 'email' | 'version' | 'createdAt' | 'updatedAt')[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['User'];
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  replaceUser: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
        /** @description Carries out the request only if the current `ETag` of the record is not among these, such as `"3"` (RFC 9110 section 13.1.2). */
        'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UserReplacement'];
      };
    };
    responses: {
      /** @description The record as it is now. If the request changes nothing, `version` and `ETag` stay the same. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['User'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  deleteUser: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record was deleted. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  patchUser: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/merge-patch+json': components['schemas']['UserPatch'];
        'application/json-patch+json': components['schemas']['JsonPatch'];
        'application/json': components['schemas']['UserPatch'];
      };
    };
    responses: {
      /** @description The record as it is now. If the request changes nothing, `version` and `ETag` stay the same. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['User'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  importUsers: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'text/csv': string;
      };
    };
    responses: {
      /** @description The result of each line. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  listOrders: {
    parameters: {
      query?: {
        /** @description The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent. */
        limit?: components['parameters']['limit'];
        /** @description A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters. */
        cursor?: components['parameters']['cursor'];
        /** @description The fields to sort by, the most important first, each at most once. A minus sign reverses the order of a field. Ties are broken by `id`, ascending. */
        sort?: (
          | 'id'
          | '-id'
          | 'createdAt'
          | '-createdAt'
          | 'updatedAt'
          | '-updatedAt'
          | 'userId'
          | '-userId'
        )[];
        /** @description `id` is this. */
        id?: components['parameters']['filter.id.eq'];
        'id.ne'?: components['parameters']['filter.id.ne'];
        'id.lt'?: components['parameters']['filter.id.lt'];
        'id.lte'?: components['parameters']['filter.id.lte'];
        'id.gt'?: components['parameters']['filter.id.gt'];
        'id.gte'?: components['parameters']['filter.id.gte'];
        'id.in'?: components['parameters']['filter.id.in'];
        /** @description `createdAt` is this. */
        createdAt?: components['parameters']['filter.createdAt.eq'];
        'createdAt.ne'?: components['parameters']['filter.createdAt.ne'];
        'createdAt.lt'?: components['parameters']['filter.createdAt.lt'];
        'createdAt.lte'?: components['parameters']['filter.createdAt.lte'];
        'createdAt.gt'?: components['parameters']['filter.createdAt.gt'];
        'createdAt.gte'?: components['parameters']['filter.createdAt.gte'];
        'createdAt.in'?: components['parameters']['filter.createdAt.in'];
        /** @description `updatedAt` is this. */
        updatedAt?: components['parameters']['filter.updatedAt.eq'];
        'updatedAt.ne'?: components['parameters']['filter.updatedAt.ne'];
        'updatedAt.lt'?: components['parameters']['filter.updatedAt.lt'];
        'updatedAt.lte'?: components['parameters']['filter.updatedAt.lte'];
        'updatedAt.gt'?: components['parameters']['filter.updatedAt.gt'];
        'updatedAt.gte'?: components['parameters']['filter.updatedAt.gte'];
        'updatedAt.in'?: components['parameters']['filter.updatedAt.in'];
        /** @description `userId` is this. */
        userId?: number;
        'userId.ne'?: number;
        'userId.lt'?: number;
        'userId.lte'?: number;
        'userId.gt'?: number;
        'userId.gte'?: number;
        'userId.in'?: number[];
        /** @description Show only these fields. Name `id`, `userId`, `items` too, so that the response has the members that its schema requires; without them, the service shows the others. With `Accept: text/csv` these are the columns, in this order, and `items.productId`, `items.quantity` are names too. */
        fields?: ('id' | 'userId' | 'items' | 'version' | 'createdAt' | 'updatedAt')[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
        /** @description `count=exact` asks for the number of matching records, in `X-Total-Count`. */
        Prefer?: components['parameters']['PreferCount'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of orders, or all of them as NDJSON or CSV. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Order'][];
          'text/csv': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  createOrder: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OrderInput'];
      };
    };
    responses: {
      /** @description The new record. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Order'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getOrder: {
    parameters: {
      query?: {
        /** @description Show only these fields. Name `id`, `userId`, `items` too, so that the response has the members that its schema requires; without them, the service shows the others. */
        fields?: ('id' | 'userId' | 'items' | 'version' | 'createdAt' | 'updatedAt')[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Order'];
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  replaceOrder: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
        /** @description Carries out the request only if the current `ETag` of the record is not among these, such as `"3"` (RFC 9110 section 13.1.2). */
        'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OrderReplacement'];
      };
    };
    responses: {
      /** @description The record as it is now. If the request changes nothing, `version` and `ETag` stay the same. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Order'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  deleteOrder: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record was deleted. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  patchOrder: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/merge-patch+json': components['schemas']['OrderPatch'];
        'application/json-patch+json': components['schemas']['JsonPatch'];
        'application/json': components['schemas']['OrderPatch'];
      };
    };
    responses: {
      /** @description The record as it is now. If the request changes nothing, `version` and `ETag` stay the same. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Order'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  importOrders: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        '*/*'?: never;
      };
    };
    responses: {
      /** @description The result of each line. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  listApiKeys: {
    parameters: {
      query?: {
        /** @description The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent. */
        limit?: components['parameters']['limit'];
        /** @description A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters. */
        cursor?: components['parameters']['cursor'];
        /** @description The fields to sort by, the most important first, each at most once. A minus sign reverses the order of a field. Ties are broken by `id`, ascending. */
        sort?: ('id' | '-id' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'name' | '-name')[];
        /** @description `id` is this. */
        id?: components['parameters']['filter.id.eq'];
        'id.ne'?: components['parameters']['filter.id.ne'];
        'id.lt'?: components['parameters']['filter.id.lt'];
        'id.lte'?: components['parameters']['filter.id.lte'];
        'id.gt'?: components['parameters']['filter.id.gt'];
        'id.gte'?: components['parameters']['filter.id.gte'];
        'id.in'?: components['parameters']['filter.id.in'];
        /** @description `createdAt` is this. */
        createdAt?: components['parameters']['filter.createdAt.eq'];
        'createdAt.ne'?: components['parameters']['filter.createdAt.ne'];
        'createdAt.lt'?: components['parameters']['filter.createdAt.lt'];
        'createdAt.lte'?: components['parameters']['filter.createdAt.lte'];
        'createdAt.gt'?: components['parameters']['filter.createdAt.gt'];
        'createdAt.gte'?: components['parameters']['filter.createdAt.gte'];
        'createdAt.in'?: components['parameters']['filter.createdAt.in'];
        /** @description `updatedAt` is this. */
        updatedAt?: components['parameters']['filter.updatedAt.eq'];
        'updatedAt.ne'?: components['parameters']['filter.updatedAt.ne'];
        'updatedAt.lt'?: components['parameters']['filter.updatedAt.lt'];
        'updatedAt.lte'?: components['parameters']['filter.updatedAt.lte'];
        'updatedAt.gt'?: components['parameters']['filter.updatedAt.gt'];
        'updatedAt.gte'?: components['parameters']['filter.updatedAt.gte'];
        'updatedAt.in'?: components['parameters']['filter.updatedAt.in'];
        /** @description `name` is this. */
        name?: string;
        'name.ne'?: string;
        'name.lt'?: string;
        'name.lte'?: string;
        'name.gt'?: string;
        'name.gte'?: string;
        'name.in'?: string[];
        'name.prefix'?: string;
        /** @description `createdBy` is this. */
        createdBy?: number;
        'createdBy.ne'?: number;
        'createdBy.lt'?: number;
        'createdBy.lte'?: number;
        'createdBy.gt'?: number;
        'createdBy.gte'?: number;
        'createdBy.in'?: number[];
        'createdBy.exists'?: boolean;
        /** @description Show only these fields. Name `id`, `name`, `scopes`, `createdAt` too, so that the response has the members that its schema requires; without them, the service shows the others. With `Accept: text/csv` these are the columns, in this order. */
        fields?: (
          | 'id'
          | 'name'
          | 'scopes'
          | 'expiresAt'
          | 'lastUsedAt'
          | 'createdBy'
          | 'createdBySubject'
          | 'version'
          | 'createdAt'
          | 'updatedAt'
        )[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
        /** @description `count=exact` asks for the number of matching records, in `X-Total-Count`. */
        Prefer?: components['parameters']['PreferCount'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A page of API keys, or all of them as NDJSON or CSV. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApiKey'][];
          'text/csv': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  createApiKey: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat: it is carried out once, however often it is sent, and each repetition gets the first response again. The client chooses the key, for instance a UUID: 1 to 255 printable ASCII characters. Keys are kept for at least 24 hours. */
        'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ApiKeyInput'];
      };
    };
    responses: {
      /** @description The new key. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IssuedApiKey'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getApiKey: {
    parameters: {
      query?: {
        /** @description Show only these fields. Name `id`, `name`, `scopes`, `createdAt` too, so that the response has the members that its schema requires; without them, the service shows the others. */
        fields?: (
          | 'id'
          | 'name'
          | 'scopes'
          | 'expiresAt'
          | 'lastUsedAt'
          | 'createdBy'
          | 'createdBySubject'
          | 'usage'
          | 'version'
          | 'createdAt'
          | 'updatedAt'
        )[];
      };
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApiKey'];
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  deleteApiKey: {
    parameters: {
      query?: never;
      header?: {
        /** @description Carries out the request only if the current `ETag` of the record is among these, such as `"3"` (RFC 9110 section 13.1.1), also if a proxy that compresses has put `W/` before it or a coding behind it (`"3-gzip"`). Otherwise the response is 412, with the current `ETag`. `*` stands for every one. */
        'If-Match'?: components['parameters']['IfMatch'];
      };
      path: {
        /** @description The id of the record. With anything but an integer from 1, the path does not exist. */
        id: components['parameters']['Id'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The record was deleted. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: components['responses']['OtherError'];
    };
  };
  createToken: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': components['schemas']['TokenRequest'];
      };
    };
    responses: {
      /** @description The token. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Token'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getIssuerMetadata: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The document. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IssuerMetadata'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getResourceMetadata: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The document. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceMetadata'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getKeys: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The document. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeySet'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getOpenApi: {
    parameters: {
      query?: never;
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The OpenAPI document. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': Record<string, never>;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  getDocs: {
    parameters: {
      query?: never;
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The page. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/html': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  getDocsFile: {
    parameters: {
      query?: never;
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path: {
        /** @description One of these names. */
        file: 'main.js' | 'base.css' | 'docs.css' | 'errors.json';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The script, a style sheet, or the error codes. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/javascript': string;
          'text/css': string;
          'application/json': Record<string, never>;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  getConsole: {
    parameters: {
      query?: never;
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The page. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/html': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  getConsoleFile: {
    parameters: {
      query?: never;
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path: {
        /** @description One of these names. */
        file: 'main.js' | 'console.css';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The script or the style sheet. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/javascript': string;
          'text/css': string;
        };
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  getRoot: {
    parameters: {
      query?: never;
      header?: {
        /** @description The `ETag` of each copy that the client already has. If one of them is current, the response is 304. */
        'If-None-Match'?: components['parameters']['KnownTags'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The links. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Links'];
        };
      };
      /** @description `Accept` names `text/html` with a higher quality than JSON: `Location` is the interactive reference. */
      303: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      304: components['responses']['NotModified'];
      default: components['responses']['OtherError'];
    };
  };
  getLiveness: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description It is. Otherwise the response is 503, or there is none. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Health'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
  getReadiness: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description It is. Otherwise the response is 503, or there is none. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Health'];
        };
      };
      default: components['responses']['OtherError'];
    };
  };
}
