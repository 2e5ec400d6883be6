/** The format of API keys, and the digest under which they are stored. */
export interface ApiKeyFormat {
  generate(): string;
  /** Whether shape and checksum are right. A key that is not well-formed needs no look-up. */
  isWellFormed(key: string): boolean;
  /** SHA-256 of any text, in lower-case hexadecimal. */
  digest(text: string): string;
}
