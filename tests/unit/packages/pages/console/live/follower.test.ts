import { expect } from 'chai';
import { CatalogueError, ResyncNeeded } from '#packages/client/index.js';
import { FeedFollower } from '#packages/pages/console/live/follower.js';
import type { Change, News, Resource } from '#packages/pages/console/types.js';

const PRODUCTS = { name: 'products', hasChanges: true } as Resource;
const USERS = { name: 'users', hasChanges: true } as Resource;
const error = (status: number, retryAfterSeconds?: number) =>
  new CatalogueError(status, 'unavailable', 'x', [], undefined, retryAfterSeconds);
const changes = (...ids: number[]): Change[] => ids.map((id) => ({ id, version: 2 }));

/** A response of the feed: its changes and the cursor behind them, or an error. */
type Response = readonly [changes: readonly Change[], cursor: string] | Error;

/** A follower of a feed with these responses, behind which nothing comes any more. */
function followed(starts: readonly (string | Error)[], responses: readonly Response[]) {
  const aborter = new AbortController();
  const [laterStarts, later] = [[...starts], [...responses]];
  const asked: (string | undefined)[] = [];
  const told: News[] = [];
  const pauses: number[] = [];
  const failures: Error[] = [];
  const follower = new FeedFollower({
    changes: (_, { from }) => {
      asked.push(from);
      return {
        start: async () => {
          const next = laterStarts.shift() ?? error(500);
          if (next instanceof Error) throw next;
          return next;
        },
        async *pages() {
          for (;;) {
            const response = later.shift();
            if (!response) return aborter.abort();
            if (response instanceof Error) throw response;
            yield { changes: response[0], cursor: response[1] };
          }
        },
      } as never;
    },
    pause: async (ms) => void pauses.push(ms),
  });
  const tell = async (news: News) => {
    const failure = failures.shift();
    if (failure) throw failure;
    told.push(news);
  };
  const follow = (resource = PRODUCTS) => follower.follow(resource, tell, aborter.signal);
  return { follower, follow, aborter, asked, told, pauses, failures };
}

describe('the follower of the console', () => {
  it('tells what comes behind the place that it took before, and rests in between', async () => {
    const { follower, follow, aborter, asked, told, pauses } = followed(
      ['a'],
      [[changes(1, 2), 'b'], [changes(3), 'c'], [[], 'd'], new TypeError('lost')],
    );
    await follower.begin(PRODUCTS, aborter.signal);
    await follower.begin(PRODUCTS, aborter.signal);
    await follow();
    expect(asked).to.deep.equal([undefined, 'a', 'd']);
    expect(told).to.deep.equal([changes(1, 2), changes(3)]);
    expect(pauses.slice(0, 3)).to.deep.equal([3_000, 3_000, 10_000]);
  });

  it('tells again what could not be told', async () => {
    const { follower, follow, aborter, asked, told, failures } = followed(
      ['a'],
      [
        [changes(1), 'b'],
        [changes(1), 'b'],
      ],
    );
    failures.push(error(503));
    await follower.begin(PRODUCTS, aborter.signal);
    await follow();
    expect(asked).to.deep.equal([undefined, 'a', 'a']);
    expect(told).to.deep.equal([changes(1)]);
  });

  it('begins anew without a place, where changes are missing, and where there are too many', async () => {
    const many = changes(...Array.from({ length: 1_000 }, (_, at) => at + 1));
    const { follow, asked, told } = followed(
      ['a', 'b', 'c'],
      [new ResyncNeeded(error(410)), [many, 'x'], [changes(7), 'd']],
    );
    await follow();
    expect(asked).to.deep.equal([undefined, 'a', undefined, 'b', undefined, 'c']);
    expect(told).to.deep.equal([undefined, undefined, undefined, changes(7)]);
  });

  it('waits as long as the service asks', async () => {
    const { follow, pauses } = followed([error(429, 40), error(503), 'a'], []);
    await follow();
    expect(pauses.slice(0, 2)).to.deep.equal([40_000, 10_000]);
  });

  for (const status of [403, 404])
    it(`asks no more after ${status}, but for other resources`, async () => {
      const { follower, follow, aborter, asked } = followed([error(status), error(401)], []);
      await follower.begin(PRODUCTS, aborter.signal);
      await follow();
      expect(asked).to.have.length(1);
      await follow(USERS);
      expect(asked).to.have.length(2);
    });

  it('asks nothing where the document has no feed', async () => {
    const { follower, follow, aborter, asked } = followed(['a'], []);
    const silent = { ...PRODUCTS, hasChanges: false };
    await follower.begin(silent, aborter.signal);
    await follow(silent);
    expect(asked).to.deep.equal([]);
  });
});
