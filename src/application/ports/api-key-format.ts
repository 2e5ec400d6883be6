/** What an API key looks like and how it is turned into what is stored. */
export interface ApiKeyFormat {
  generate(): string;
  /** Whether the checksum is right; a wrong one needs no look-up. */
  isWellFormed(key: string): boolean;
  /** One way: SHA-256 in lower-case hexadecimal. */
  digest(key: string): string;
}
