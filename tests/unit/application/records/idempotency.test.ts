import { expect } from 'chai';
import { PRODUCTS as VIEW } from '#src/adapters/inbound/http/resources/definitions.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import {
  bodyFingerprint,
  idempotentRequest,
  keyReused,
  lineKey,
  reservationKey,
  STREAM,
} from '#src/application/records/write-conditions.js';
import type { Product } from '#src/domain/product.js';
import { canonicalJson, hasMoreValues } from '#src/shared/json.js';
import { FakeClock } from '../../../support/fakes.js';
import { recordService } from '../../../support/record-service.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

describe('the fingerprint of a body', () => {
  it('is the same for the same JSON value', () => {
    const one = { a: 1, b: { c: [1, { e: 2, d: 3 }], f: null }, z: -0 };
    const other = { z: 0, b: { f: null, c: [1, { d: 3, e: 2 }] }, a: 1 };
    expect(bodyFingerprint(one))
      .to.equal(bodyFingerprint(other))
      .and.match(/^[0-9a-f]{64}$/);
  });

  it('differs for another value', () => {
    const scalars = [null, 0, '0', true, 'true', 'é', 'e\u0301', ''];
    const bodies = [...scalars, [], {}, [1, 2], [2, 1], { a: 1 }, { a: '1' }, { a: {} }, { a: { b: 1 } }, { 'a.b': 1 }];
    expect(new Set(bodies.map(bodyFingerprint))).to.have.length(bodies.length);
  });

  it('depends on the order of members only beyond 5,000 values', () => {
    const list = (length: number) => Array.from({ length }, () => 0);
    const swapped = (length: number) => [
      bodyFingerprint({ a: list(length), b: 1 }),
      bodyFingerprint({ b: 1, a: list(length) }),
    ];
    expect(new Set(swapped(4_997))).to.have.length(1);
    expect(new Set(swapped(4_998))).to.have.length(2);
  });

  it('is computed once, when it is needed', () => {
    let reads = 0;
    const body = {
      get a() {
        return ++reads;
      },
    };
    const request = idempotentRequest({ key: 'k', storesFields: false, body });
    expect(request).to.include({ key: 'k', storesFields: false });
    expect(reads).to.equal(0);
    const first = request.fingerprint;
    expect(first).to.match(/^[0-9a-f]{64}$/);
    const after = reads;
    expect([request.fingerprint, reads]).to.deep.equal([first, after]);
  });
});

describe('a creation under an idempotency key', () => {
  it('has the time of its reservation, as a replay has', async () => {
    const clock = new FakeClock();
    clock.now = () => ++clock.time;
    const records = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    const service = recordService(records, VIEW, { clock });
    const create = () => {
      const idempotency = idempotentRequest({ key: 'k', storesFields: true, body: {} });
      return service.create({ draft: service.draft({ name: 'Lamp' }), idempotency });
    };
    const [first, second] = [await create(), await create()];
    expect([first.isReplay, second.isReplay]).to.deep.equal([false, true]);
    expect(second.record.createdAt).to.equal(first.record.createdAt);
    expect((await records.find(first.record.id))?.createdAt).to.equal(first.record.createdAt);
  });
});

describe('the key of a reservation', () => {
  it('differs by principal and idempotency key, and shows neither', () => {
    const keys = ['a b', 'b a', ' ab', 'ab '].map((pair) => reservationKey(...(pair.split(' ') as [string, string])));
    expect(new Set(keys)).to.have.length(4);
    for (const key of keys) expect(key).to.match(/^[0-9a-f]{64}$/);
  });

  it('has the number of a line in a stream', () => {
    expect([lineKey('s', 1), lineKey('s', 11)]).to.deep.equal(['s/1', 's/11']);
    expect(STREAM).to.deep.equal({ fingerprint: 'stream', id: 0 });
    expect(keyReused().code).to.equal('idempotency_key_reused');
  });
});

describe('canonical JSON', () => {
  it('sorts the members of objects, and nothing else', () => {
    const value = JSON.parse('{"b":[3,1,2],"a":{"z":null,"10":1,"9":true,"Z":"x"},"__proto__":{"d":1,"c":2}}');
    expect(canonicalJson(value)).to.equal(
      '{"__proto__":{"c":2,"d":1},"a":{"9":true,"10":1,"Z":"x","z":null},"b":[3,1,2]}',
    );
  });

  it('counts values, with objects and arrays', () => {
    const cases: [unknown, number][] = [
      [1, 1],
      [null, 1],
      ['abc', 1],
      [{}, 1],
      [[1, [2]], 4],
      [{ a: { b: null }, c: 'x' }, 4],
    ];
    for (const [value, count] of cases)
      expect([hasMoreValues(value, count - 1), hasMoreValues(value, count)]).to.deep.equal([true, false]);
  });
});
