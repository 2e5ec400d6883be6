import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { StoreName } from '#src/composition/stores/index.js';
import { figuresOf } from '../../support/figure.js';
import type { HttpResponse } from '../../support/http-client.js';
import { inProcessService } from '../../support/in-process-service.js';
import {
  BAD_PATCHES,
  BAD_RECORDS,
  type Issue,
  MALFORMED,
  NO_OBJECTS,
  OTHER_TYPES,
  TOO_MANY_ITEMS,
} from '../../support/invalid-values.js';
import { inParallel } from '../../support/parallel-limits.js';
import { TEST_SEED } from '../../support/run-settings.js';
import { RECORD_PLURALS } from '../../support/tables.js';
import { JSON_PATCH, MERGE_PATCH, NDJSON, ofType } from './media-types.js';
import { BATCH_SIZE, batch, objectOf } from './random-records.js';
import { RoundTrips } from './round-trips.js';
import { waysToSend } from './ways-to-send.js';

const figure = figuresOf('random-values');

const LANES = 8;

interface Detail {
  readonly code: string;
  readonly pointer: string;
}

/** Sends bodies that break a rule in every way to write. */
export function badBodies(): void {
  describe('bad bodies', function () {
    this.timeout(600_000);
    const service = inProcessService({ STORE: 'sqlite' });
    const faults: string[] = [];
    let sent = 0;
    let serverErrors = 0;

    beforeEach(() => {
      [sent, serverErrors] = [0, 0];
      faults.length = 0;
    });
    before(async () => {
      await service.post('/v1/products', { name: 'Lamp' });
      await service.post('/v1/users', { name: 'Ada', email: 'ada@example.com' });
      await service.post('/v1/orders', { userId: 1, items: [{ productId: 1, quantity: 1 }] });
    });

    const verify = (
      what: string,
      { status, json }: { status: number; json: { code: string; details: Detail[] } },
      expected: readonly [status: number, code: string, details?: readonly Issue[]],
    ) => {
      sent++;
      if (status >= 500) serverErrors++;
      const [wanted, code, details] = expected;
      const got: Issue[] = (json.details ?? []).map((one) => [one.code, one.pointer]);
      const isRight =
        status === wanted &&
        json.code === code &&
        (details === undefined || isDeepStrictEqual([...got].sort(), [...details].sort())) &&
        Object.keys(json).join() === 'code,message,details';
      if (!isRight)
        faults.push(`${what}: ${status} ${json.code} ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`);
    };
    const lineOf = (response: HttpResponse) => {
      const { status, error } = JSON.parse(response.text.split('\n')[0] ?? '');
      return { status, json: error ?? {} };
    };
    const expectRight = async (minimum: number) => {
      for (const { plural } of BAD_RECORDS) {
        const list = await service.get(`/v1/${plural}?fields=id,version`);
        expect(list.json, `${plural} are untouched`).to.deep.equal([{ id: 1, version: 1 }]);
      }
      expect(sent).to.be.at.least(minimum);
      figure('bad bodies', sent);
      figure('5xx', serverErrors);
      expect(faults, `${faults.length} wrong responses:\n${faults.slice(0, 20).join('\n')}`).to.have.length(0);
      expect(serverErrors).to.equal(0);
    };

    it('with one bad value get its status, code, pointer and detail, from every way to write', async () => {
      for (const records of BAD_RECORDS)
        await inParallel(LANES, records.values, async (value) => {
          const path = `/v1/${records.plural}`;
          for (const [way, request, issues] of waysToSend(records, value)) {
            const what = `${way} ${path} ${value.member}: ${value.json.slice(0, 60)}`;
            const response = await request(service.client, path);
            const isImport = way === 'NDJSON' || way === 'CSV';
            verify(what, isImport ? lineOf(response) : response, [400, 'validation_failed', issues]);
          }
        });
      const many = await service.post('/v1/orders', `{"userId":1,"items":${TOO_MANY_ITEMS}}`);
      verify('POST of 101 items', many, [400, 'validation_failed']);
      expect(many.json.details[0]).to.include({ code: 'too_long', pointer: '/items' });
      for (const { plural, valid } of BAD_RECORDS)
        for (const member of Object.keys(valid)) {
          const { [member]: _, ...rest } = valid;
          const issues: Issue[] = [['required', `/${member}`]];
          const body = objectOf(rest);
          for (const response of [
            await service.post(`/v1/${plural}`, body),
            await service.put(`/v1/${plural}/1`, body),
            await service.patch(`/v1/${plural}/1`, `{"${member}":null}`, ofType(MERGE_PATCH)),
          ])
            verify(`${plural} without ${member}`, response, [400, 'validation_failed', issues]);
        }
      await expectRight(1_400);
    });

    it('that are no JSON, no object or no patch get their code', async () => {
      for (const { plural } of BAD_RECORDS) {
        const [path, itemPath] = [`/v1/${plural}`, `/v1/${plural}/1`];
        await inParallel(LANES, MALFORMED, async (body) => {
          const expected = [400, 'malformed_json', []] as const;
          const what = `${plural} ${body.toString().slice(0, 60)}`;
          verify(`POST ${what}`, await service.post(path, body), expected);
          verify(`PUT ${what}`, await service.put(itemPath, body), expected);
          verify(`merge patch ${what}`, await service.patch(itemPath, body, ofType(MERGE_PATCH)), expected);
          verify(`JSON patch ${what}`, await service.patch(itemPath, body, ofType(JSON_PATCH)), expected);
          // Several lines, or a byte order mark, which an import may have.
          if (body.includes('\n') || body.includes('\ufeff')) return;
          verify(`NDJSON ${what}`, lineOf(await service.post(`${path}/imports`, body, ofType(NDJSON))), expected);
        });
        for (const body of NO_OBJECTS) {
          const expected = [400, 'validation_failed', [['invalid_type', '']]] as const;
          verify(`POST ${body}`, await service.post(path, body), expected);
          verify(`PUT ${body}`, await service.put(itemPath, body), expected);
          verify(`merge patch ${body}`, await service.patch(itemPath, body, ofType(MERGE_PATCH)), expected);
          verify(`NDJSON ${body}`, lineOf(await service.post(`${path}/imports`, body, ofType(NDJSON))), expected);
        }
        const empty = [400, 'malformed_json', []] as const;
        for (const body of ['', ' \n\t\r']) {
          verify(`empty POST`, await service.post(path, body), empty);
          verify(`empty PUT`, await service.put(itemPath, body), empty);
        }
        const wide = JSON.stringify({ name: Array(10_001).fill(0) });
        verify('10,001 values', await service.post(path, wide), [413, 'payload_too_large', []]);
        const long = JSON.stringify({ name: 'x'.repeat(1_048_576) });
        verify('over 1 MiB', await service.post(path, long), [413, 'payload_too_large', []]);
        for (const type of OTHER_TYPES)
          verify(`type ${type}`, await service.post(path, '{}', ofType(type)), [415, 'unsupported_media_type', []]);
      }
      for (const [patch, detail] of BAD_PATCHES) {
        const response = await service.patch('/v1/products/1', patch, ofType(JSON_PATCH));
        verify(`patch ${patch.slice(0, 80)}`, response, [400, 'invalid_patch', [detail]]);
      }
      await expectRight(1_000);
    });
  });
}

/** Writes random records in all ways and reads them in all ways. @param batches so many times {@link BATCH_SIZE} records */
export function randomRecords(store: StoreName, batches: number): void {
  describe(`random records in ${store}`, function () {
    this.timeout(600_000);
    const service = inProcessService({ STORE: store });

    it('come back unchanged, however they are written and read', async () => {
      // The products and the user that orders name.
      for (let at = 1; at <= 21; at++) await service.post('/v1/products', { name: `${at}` });
      await service.post('/v1/users', { name: 'Ada', email: 'ada@example.com' });
      const all = new RoundTrips(() => service.client, store);
      for (const drawn of fc.sample(batch, { numRuns: batches, seed: TEST_SEED }))
        for (const plural of RECORD_PLURALS) await all.run(plural, drawn[plural]);
      figure(`round trips on ${store}`, all.trips);
      figure('silent changes', all.changes.length);
      figure('5xx', all.serverErrors);
      expect(all.changes.slice(0, 3), `${all.changes.length} changes`).to.deep.equal([]);
      expect(all.trips).to.equal(batches * BATCH_SIZE);
      expect(all.serverErrors).to.equal(0);
    });
  });
}
