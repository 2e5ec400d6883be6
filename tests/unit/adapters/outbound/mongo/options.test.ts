import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { parseConnectionString } from '#src/adapters/outbound/mongo/connection.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { ENDLESS } from '../../../../support/tables.js';

const LONGEST_MS = 2_500;
const HOSTS = 'mongodb://user:secret@a,b';

/** What the driver makes of the URL with our options. */
const effective = (query: string) => {
  const url = `${HOSTS}/x?${query}`;
  return new MongoClient(url, parseConnectionString(url, LONGEST_MS).options).options;
};
const operationMs = (query: string) => parseConnectionString(`${HOSTS}/x?${query}`, LONGEST_MS).operationMs;
const database = (path: string) => parseConnectionString(`${HOSTS}${path}`, LONGEST_MS).database;
const problems = (query: string): string[] => {
  try {
    effective(query);
    return [];
  } catch (error) {
    expect(error).to.be.instanceOf(StoreConfigError);
    return (error as Error).message.split('\n');
  }
};

/** Names as MongoDB's manual and the driver have them. */
const WEAKENING = [
  'w=1',
  'w=0',
  'w=3',
  'w=myTag',
  'journal=false',
  'j=false',
  'fsync=true',
  'writeConcern=1',
  'readConcernLevel=local',
  'readConcernLevel=available',
  'readConcernLevel=linearizable',
  'readPreference=secondaryPreferred',
  'readPreference=nearest',
  'readPreferenceTags=dc:ny',
  'maxStalenessSeconds=120',
  'retryWrites=false',
  'retryReads=false',
  'timeoutMS=60000',
  'ignoreUndefined=false',
  'promoteValues=false',
  'promoteLongs=false',
  'promoteBuffers=true',
  'useBigInt64=true',
  'raw=true',
];

describe('the options of MONGODB_URL', () => {
  for (const option of WEAKENING) {
    const [name = '', value] = option.split('=');

    it(`are refused where one weakens what is promised, whatever its case: ${option}`, () => {
      for (const written of [name, name.toLowerCase(), name.toUpperCase()]) {
        const [problem, ...others] = problems(`${written}=${value}`);
        expect(problem, written).to.include(`MONGODB_URL sets ${name.toLowerCase()},`);
        expect(others).to.deep.equal([]);
      }
    });
  }

  it('are refused with one line for each problem, and no value of the URL is shown', () => {
    const reported = problems('w=1&Journal=false&appName=hidden&READCONCERNLEVEL=local&journal=true');
    expect(reported.map((line) => /sets (\w+)/.exec(line)?.[1])).to.deep.equal([
      'w',
      'journal',
      'readconcernlevel',
    ]);
    expect(reported.join()).to.not.match(/secret|hidden|local/);
  });

  it('are refused however the name is encoded, and where the right value stands beside the wrong one', () => {
    expect(problems('%77=1')).to.have.length(1);
    expect(problems('journal=true&JOURNAL=false')).to.have.length(1);
  });

  it('may say what is promised anyway, as the URLs of Atlas do', () => {
    for (const query of [
      '',
      'retryWrites=true&w=majority&appName=Cluster0',
      'journal=true&readConcernLevel=majority&readPreference=primary&retryReads=true',
      'wtimeoutMS=700&compressors=zlib&maxPoolSize=5',
    ]) {
      const { writeConcern, readConcern, readPreference, retryWrites, retryReads } = effective(query);
      expect([writeConcern?.w, writeConcern?.journal, readConcern?.level], query).to.deep.equal([
        'majority',
        true,
        'majority',
      ]);
      expect([readPreference.mode, retryWrites, retryReads], query).to.deep.equal(['primary', true, true]);
    }
  });

  it('name time-outs in any case', () => {
    expect(effective('').socketTimeoutMS).to.equal(LONGEST_MS);
    expect(effective('SOCKETtimeoutms=400').socketTimeoutMS).to.equal(400);
    expect(operationMs('')).to.equal(1_800);
    expect(operationMs('SOCKETtimeoutms=400')).to.equal(700);
    expect(effective('MAXPOOLSIZE=7').maxPoolSize).to.equal(7);
  });

  it('mean no time-out of a socket by 0, and then nobody waits less', () => {
    expect(effective('socketTimeoutMS=0').socketTimeoutMS).to.equal(0);
    expect(operationMs('socketTimeoutMS=0')).to.equal(1_800);
  });

  it('have the acknowledgement of a write follow the time-out of the socket, unless they name its own', () => {
    const wtimeout = (query: string) => effective(query).writeConcern?.wtimeoutMS;
    expect(wtimeout('')).to.equal(1_500);
    expect(wtimeout('socketTimeoutMS=60000')).to.equal(60_000);
    expect(wtimeout('socketTimeoutMS=0')).to.equal(1_500);
    expect(wtimeout('socketTimeoutMS=60000&wTimeoutMS=700')).to.equal(700);
    expect(wtimeout('wtimeout=700')).to.equal(700);
  });
});

describe('the database of MONGODB_URL', () => {
  it('is the one that it names, percent-decoded, else catalogue', () => {
    expect(database('')).to.equal('catalogue');
    expect(database('/')).to.equal('catalogue');
    expect(database('?replicaSet=rs0')).to.equal('catalogue');
    expect(database('/shop?replicaSet=rs0')).to.equal('shop');
    expect(database('/caf%C3%A9%2D1?replicaSet=rs0')).to.equal('café-1');
  });

  it('is where the store says that it is', async () => {
    const store = new MongoStore(`${HOSTS}/caf%C3%A9?w=majority`, [], ENDLESS);
    expect(store.location).to.equal('MongoDB at a,b, database café');
    await store.close();
  });

  it('is refused where MongoDB cannot have it', () => {
    for (const name of ['a%2Fb', 'a.b', 'a%20b', '%E0%A4', '%24x', 'x'.repeat(64)])
      expect(() => database(`/${name}`), name).to.throw(StoreConfigError, 'that MongoDB cannot have');
  });
});
