import type { Versioned } from '../../domain/record.js';
import { phasesOf, type SigningKey, type SigningKeyPhase } from '../../domain/signing-key.js';
import type { Clock } from '../ports/clock.js';
import type { TokenKey, TokenSigner } from '../ports/token-signer.js';
import type { SigningKeyAdministration } from './signing-key-administration.js';

/** So long the keys that were read are believed to be all there are, and to be there still. */
const FRESH_MS = 60_000;
/** Unknown names have the keys read again, so often at the most, whatever anybody sends. */
const AGAIN_MS = 1_000;

const TRUSTED: readonly SigningKeyPhase[] = ['past', 'signing', 'next'];

export interface SigningKeysDependencies {
  readonly administration: Pick<SigningKeyAdministration, 'all' | 'makeFirst'>;
  readonly signer: TokenSigner;
  readonly clock: Clock;
}

type Keys = readonly Versioned<SigningKey>[];

/** The signing keys of the store as this process knows them. Every method may throw a CatalogueError `unavailable`. */
export class SigningKeys {
  private known: { readonly keys: Keys; readonly readAt: number } | undefined;
  private reading: Promise<Keys> | undefined;
  private making: Promise<void> | undefined;
  private readonly opened = new Map<string, TokenKey>();

  constructor(private readonly deps: SigningKeysDependencies) {}

  /** The key to sign by; where the store has none it is made now. */
  async current(): Promise<TokenKey> {
    const [key] = this.inPhase(await this.some(), ['signing']);
    if (!key) throw new Error('Of some signing keys none signs.');
    return this.open(key);
  }

  /** Those by which a token may be signed now or soon, for everyone to know. */
  async published(): Promise<TokenKey[]> {
    const keys = this.inPhase(await this.some(), TRUSTED);
    return Promise.all(keys.map((key) => this.open(key)));
  }

  async find(kid: string): Promise<TokenKey | undefined> {
    const key = this.named(kid, await this.read(FRESH_MS)) ?? this.named(kid, await this.read(AGAIN_MS));
    return key && this.open(key);
  }

  private named(kid: string, keys: Keys): Versioned<SigningKey> | undefined {
    return this.inPhase(keys, TRUSTED).find(({ fields }) => fields.kid === kid);
  }

  private inPhase(keys: Keys, phases: readonly SigningKeyPhase[]): Versioned<SigningKey>[] {
    const phased = phasesOf(keys, this.deps.clock.now());
    return phased.filter(({ phase }) => phases.includes(phase)).map(({ key }) => key);
  }

  private async some(): Promise<Keys> {
    const keys = await this.read(FRESH_MS);
    if (keys.length > 0) return keys;
    this.making ??= this.deps.administration.makeFirst().finally(() => {
      this.making = undefined;
    });
    await this.making;
    return this.read(0);
  }

  /** @param ms what was read at most so long ago will do */
  private async read(ms: number): Promise<Keys> {
    if (this.known && this.deps.clock.elapsed() - this.known.readAt < ms) return this.known.keys;
    this.reading ??= this.readAll().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async readAll(): Promise<Keys> {
    const readAt = this.deps.clock.elapsed();
    const keys = await this.deps.administration.all();
    this.known = { keys, readAt };
    const kids = new Set(keys.map(({ fields }) => fields.kid));
    for (const kid of this.opened.keys()) if (!kids.has(kid)) this.opened.delete(kid);
    return keys;
  }

  private async open({ fields }: Versioned<SigningKey>): Promise<TokenKey> {
    const key = this.opened.get(fields.kid) ?? (await this.deps.signer.open(fields));
    this.opened.set(fields.kid, key);
    return key;
  }
}
