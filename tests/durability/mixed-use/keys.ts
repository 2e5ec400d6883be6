import { randomUUID } from 'node:crypto';
import type { Session } from './session.js';

/** Creates and revokes API keys. */
export class Keys {
  constructor(private readonly session: Session) {}

  async create(): Promise<void> {
    const { ledger } = this.session.shared;
    const name = `key ${this.session.shared.next()}`;
    ledger.keys.set(name, { isRevocationSent: false, isRevoked: false });
    const headers = { 'Idempotency-Key': randomUUID() };
    const response = await this.session.persist((client, options) =>
      client.post('/api-keys', { name, scopes: ['products:read'] }, { ...options, headers }),
    );
    if (response.status !== 201) return this.session.unexpected('an API key', response);
    ledger.acknowledged++;
    const key = ledger.keys.get(name);
    if (key) Object.assign(key, { id: response.json.id, secret: response.json.key });
  }

  async revoke(): Promise<void> {
    const { ledger } = this.session.shared;
    const valid = [...ledger.keys.values()].filter(({ id, isRevocationSent }) => id !== undefined && !isRevocationSent);
    if (valid.length < 4) return;
    const key = this.session.random.oneOf(valid);
    key.isRevocationSent = true;
    let sent = 0;
    const response = await this.session.persist((client, options) => {
      sent++;
      return client.delete(`/api-keys/${key.id}`, options);
    });
    // Only a retry may find no key: an earlier attempt has revoked it.
    if (response.status === 404 && sent === 1) {
      ledger.seen.lost.push(`the API key ${key.id} was gone before its revocation`);
      return;
    }
    if (response.status !== 204 && response.status !== 404) return this.session.unexpected('a revocation', response);
    key.isRevoked = true;
    ledger.acknowledged++;
  }
}
