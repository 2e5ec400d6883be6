import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { parseConnectionString } from '#src/adapters/outbound/mongo/connection.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { list } from '../../../../support/list.js';
import { ENDLESS } from '../../../../support/tables.js';

const LONGEST_MS = 2_500;
const HOSTS = 'mongodb://user:secret@a,b';

/** The options that the driver reads from the URL and from ours. */
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

/** Options with the names of MongoDB's manual and of the driver. */
const WEAKENING = [
  ...list`w=1  w=0  w=3  w=myTag  journal=false  j=false  fsync=true  writeConcern=1  readConcernLevel=local`,
  ...list`readConcernLevel=available  readConcernLevel=linearizable  readPreference=secondaryPreferred`,
  ...list`readPreference=nearest  readPreferenceTags=dc:ny  maxStalenessSeconds=120  retryWrites=false`,
  ...list`retryReads=false  timeoutMS=60000  ignoreUndefined=false  promoteValues=false  promoteLongs=false`,
  ...list`promoteBuffers=true  useBigInt64=true  raw=true`,
];

describe('the options of MONGODB_URL', () => {
  it('are rejected if one weakens the guarantees, in any case', () => {
    for (const option of WEAKENING) {
      const [name = '', value] = option.split('=');
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
        const [problem, ...others] = problems(`${spelling}=${value}`);
        expect(problem, `${spelling}=${value}`).to.include(`MONGODB_URL sets ${name.toLowerCase()},`);
        expect(others).to.deep.equal([]);
      }
    }
  });

  it('are rejected with one line for each problem, without the values of the URL', () => {
    const lines = problems('w=1&Journal=false&appName=hidden&READCONCERNLEVEL=local&journal=true');
    expect(lines.map((line) => /sets (\w+)/.exec(line)?.[1])).to.deep.equal(['w', 'journal', 'readconcernlevel']);
    expect(lines.join()).to.not.match(/secret|hidden|local/);
  });

  it('are rejected with an encoded name, and with a right value next to a wrong one', () => {
    expect(problems('%77=1')).to.have.length(1);
    expect(problems('journal=true&JOURNAL=false')).to.have.length(1);
  });

  it('may repeat the guarantees, like the URLs of Atlas', () => {
    for (const query of [
      '',
      'retryWrites=true&w=majority&appName=Cluster0',
      'journal=true&readConcernLevel=majority&readPreference=primary&retryReads=true',
      'wtimeoutMS=700&compressors=zlib&maxPoolSize=5',
    ]) {
      const { writeConcern, readConcern, readPreference, retryWrites, retryReads } = effective(query);
      const concerns = [writeConcern?.w, writeConcern?.journal, readConcern?.level];
      expect(concerns, query).to.deep.equal(['majority', true, 'majority']);
      expect([readPreference.mode, retryWrites, retryReads], query).to.deep.equal(['primary', true, true]);
    }
  });

  it('set time-outs in upper and lower case', () => {
    expect(effective('').socketTimeoutMS).to.equal(LONGEST_MS);
    expect(effective('SOCKETtimeoutms=400').socketTimeoutMS).to.equal(400);
    expect(operationMs('')).to.equal(1_800);
    expect(operationMs('SOCKETtimeoutms=400')).to.equal(700);
    expect(effective('MAXPOOLSIZE=7').maxPoolSize).to.equal(7);
  });

  it('disable the socket time-out with 0, and keep the default time of an operation', () => {
    expect(effective('socketTimeoutMS=0').socketTimeoutMS).to.equal(0);
    expect(operationMs('socketTimeoutMS=0')).to.equal(1_800);
  });

  it('derive the write time-out from the socket time-out, unless they set their own', () => {
    const wtimeout = (query: string) => effective(query).writeConcern?.wtimeoutMS;
    expect(wtimeout('')).to.equal(1_500);
    expect(wtimeout('socketTimeoutMS=60000')).to.equal(60_000);
    expect(wtimeout('socketTimeoutMS=0')).to.equal(1_500);
    expect(wtimeout('socketTimeoutMS=60000&wTimeoutMS=700')).to.equal(700);
    expect(wtimeout('wtimeout=700')).to.equal(700);
  });
});

describe('the database of MONGODB_URL', () => {
  it('is the percent-decoded path, or catalogue by default', () => {
    for (const path of ['', '/', '?replicaSet=rs0']) expect(database(path), path).to.equal('catalogue');
    expect(database('/shop?replicaSet=rs0')).to.equal('shop');
    expect(database('/caf%C3%A9%2D1?replicaSet=rs0')).to.equal('café-1');
  });

  it('is part of the location of the store', async () => {
    const store = new MongoStore(`${HOSTS}/caf%C3%A9?w=majority`, [], ENDLESS);
    expect(store.location).to.equal('MongoDB at a,b, database café');
    await store.close();
  });

  it('is rejected if MongoDB does not allow its name', () => {
    for (const name of ['a%2Fb', 'a.b', 'a%20b', '%E0%A4', '%24x', 'x'.repeat(64)])
      expect(() => database(`/${name}`), name).to.throw(StoreConfigError, 'that MongoDB cannot have');
  });
});

describe('a wrong connection string', () => {
  const open = (url: string) => () => new MongoStore(url, [], ENDLESS);

  it('is told from options that do not fit', () => {
    for (const url of ['mongodb://me:a%@a/x', 'mongodb://me:a@b@a/x', 'mongo://a/x'])
      expect(open(url), url).to.throw(StoreConfigError, 'is not a MongoDB connection string');
    expect(open(`${HOSTS}/x?maxPoolSize=y`)).to.throw(StoreConfigError, 'has options that do not fit');
  });
});
