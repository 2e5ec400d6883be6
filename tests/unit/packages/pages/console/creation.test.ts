import { expect } from 'chai';
import { Creation, type Failure } from '#packages/pages/console/edit/creation.js';
import { isSame, type JsonObject } from '#packages/pages/console/edit/json.js';

/** What happens to a request: `lost` carries it out and loses the response. */
type Fate = 'ok' | 'lost' | Failure;

/** A service that creates one record per key, and refuses a key with another body. */
class FakeService {
  readonly records: JsonObject[] = [];
  readonly keys: string[] = [];
  private readonly reserved = new Map<string, { body: JsonObject; at?: number }>();
  fates: Fate[] = [];

  create = async (body: JsonObject, key: string): Promise<number> => {
    this.keys.push(key);
    const fate = this.fates.shift() ?? 'ok';
    if (fate === 'not_carried_out' || fate === 'unknown') throw fate;
    const known = this.reserved.get(key) ?? { body };
    this.reserved.set(key, known);
    if (!isSame(known.body, body)) throw new Error('idempotency_key_reused');
    if (fate === 'refused') throw fate;
    known.at ??= this.records.push(body) - 1;
    if (fate === 'lost') throw 'unknown' satisfies Failure;
    return known.at;
  };
}

describe('a creation', () => {
  const setUp = (...fates: Fate[]) => {
    const service = new FakeService();
    service.fates = fates;
    let key = 0;
    const creation = new Creation(
      service.create,
      (error) => error as Failure,
      () => `key-${++key}`,
    );
    const save = (body: JsonObject) => creation.save(body).catch((error) => error);
    return { service, save };
  };
  const [first, second] = [{ name: 'a' }, { name: 'b' }];

  it('saved twice at once makes one record', async () => {
    const { service, save } = setUp();
    expect(await Promise.all([save(first), save(first)])).to.deep.equal([0, 0]);
    expect(service.records).to.have.length(1);
  });

  it('repeats a lost attempt under its key', async () => {
    const { service, save } = setUp('lost');
    expect(await save(first)).to.equal('unknown');
    expect(await save(first)).to.equal(0);
    expect(service.records).to.deep.equal([first]);
    expect(service.keys).to.deep.equal(['key-1', 'key-1']);
  });

  it('returns the record of a lost attempt although the text has changed since', async () => {
    const { service, save } = setUp('lost', 'not_carried_out', 'unknown');
    for (const failure of ['unknown', 'not_carried_out', 'unknown']) expect(await save(first)).to.equal(failure);
    expect(await save(second)).to.equal(0);
    expect(service.records).to.deep.equal([first]);
  });

  it('creates the new text if the attempt with unknown outcome turns out to be refused', async () => {
    const { service, save } = setUp('unknown', 'refused');
    await save(first);
    expect(await save(second)).to.equal(0);
    expect(service.records).to.deep.equal([second]);
  });

  it('takes another key for another text after a refusal, since the service keeps the first key', async () => {
    const { service, save } = setUp('refused');
    expect(await save(first)).to.equal('refused');
    expect(await save(second)).to.equal(0);
    expect(service.keys).to.deep.equal(['key-1', 'key-2']);
  });

  it('does not create an earlier text that was certainly not carried out', async () => {
    const { service, save } = setUp('not_carried_out');
    await save(first);
    expect(await save(second)).to.equal(0);
    expect(service.records).to.deep.equal([second]);
  });
});
