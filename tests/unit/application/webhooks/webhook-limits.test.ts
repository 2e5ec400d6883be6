import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { limitedWebhooks } from '#src/application/webhooks/webhook-limits.js';
import type { Versioned } from '#src/domain/record.js';
import type { Webhook } from '#src/domain/webhook.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { ENDLESS, WEBHOOKS } from '../../../support/tables.js';

const MAX_OF_KEY = 100;

const fields: Webhook = { name: 'x', url: 'https://a.example', resources: [], createdBy: 1, secret: 'x', starts: {} };
const webhook = (id: number): Versioned<Webhook> => ({ id, version: 1, createdAt: 0, updatedAt: 0, fields });

describe('limitedWebhooks', () => {
  it('recognises the last webhook of a key when its creation comes twice at once', async () => {
    const stored = new MemoryRepository<Webhook>(WEBHOOKS, ENDLESS);
    await stored.insertAll(Array.from({ length: MAX_OF_KEY - 1 }, (_, at) => webhook(at + 1)));
    const limited = limitedWebhooks(stored);
    const insert = async (id: number) => (await limited.insertAll([webhook(id)]))[0];
    const outcomes = await Promise.all([insert(MAX_OF_KEY), insert(MAX_OF_KEY)]);
    expect(outcomes).to.deep.equal(['inserted', 'id_conflict']);
    await expectAppError(Promise.reject(await insert(MAX_OF_KEY + 1)), 'limit_reached');
  });
});
