/** An idempotency key of 128 random bits. Pages without HTTPS have no `crypto.randomUUID`. */
export function randomKey(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-');
}
