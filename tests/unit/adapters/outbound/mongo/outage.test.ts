import { expect } from 'chai';
import { MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { Outage } from '#src/adapters/outbound/mongo/outage.js';
import type { AppError } from '#src/domain/errors.js';

const SILENCE_MS = 1_500;
const BROKEN = new MongoNetworkError('connection closed');
const NO_PRIMARY = new MongoServerSelectionError('no primary', { servers: new Map() } as never);

describe('an outage of MongoDB', () => {
  let now: number;
  let outage: Outage;
  let respond: () => void;

  beforeEach(() => {
    now = 0;
    const probe = () => new Promise<void>((resolve) => (respond = resolve));
    outage = new Outage({ silenceMs: SILENCE_MS, probe, now: () => now });
  });
  afterEach(() => outage.close());

  const isOn = () => {
    try {
      outage.check();
      return false;
    } catch (error) {
      expect((error as AppError).code).to.equal('unavailable');
      return true;
    }
  };

  it('begins if no primary is found', () => {
    outage.failed(NO_PRIMARY);
    expect(isOn()).to.equal(true);
  });

  it('begins if a call fails and nothing else has been heard for a time', () => {
    now = SILENCE_MS - 1;
    outage.failed(BROKEN);
    expect(isOn()).to.equal(false);
    now = SILENCE_MS;
    outage.failed(BROKEN);
    expect(isOn()).to.equal(true);
  });

  it('does not begin while the store responds to others, be it with an error', () => {
    now = SILENCE_MS;
    outage.responded();
    now = 2 * SILENCE_MS - 1;
    outage.failed(new MongoServerError({ message: 'duplicate key', code: 11_000 }));
    now = 3 * SILENCE_MS - 2;
    outage.missed(undefined);
    expect(isOn()).to.equal(false);
  });

  it('rejects those that wait when it begins, and nobody that has left', () => {
    const rejected: string[] = [];
    const [stays, leaves] = [() => rejected.push('stays'), () => rejected.push('leaves')];
    outage.join(stays);
    outage.join(leaves);
    outage.leave(leaves);
    outage.failed(NO_PRIMARY);
    expect(rejected).to.deep.equal(['stays']);
  });

  it('ends when a probe gets a response', async () => {
    outage.failed(NO_PRIMARY);
    respond();
    await new Promise(setImmediate);
    expect(isOn()).to.equal(false);
  });

  it('does not begin any more when the store is closed', () => {
    outage.close();
    outage.failed(NO_PRIMARY);
    expect(isOn()).to.equal(false);
  });
});
