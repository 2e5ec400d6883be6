import { expect } from 'chai';
import pg from 'pg';
import { parseUrl, withStatementTimeout } from '#src/adapters/outbound/postgresql/connection.js';
import { StoreConfigError } from '#src/application/ports/store.js';

const QUERY_MS = 3_000;
const parsed = (url: string) => parseUrl(url, QUERY_MS);

describe('the connection URL of PostgreSQL', () => {
  it('has the database catalogue and the port 5432 unless it names others', () => {
    expect(parsed('postgresql://db.example').location).to.equal('PostgreSQL at db.example:5432, database catalogue');
    expect(parsed('postgres://u:p@db.example:5433/shop').location).to.equal(
      'PostgreSQL at db.example:5433, database shop',
    );
  });

  it('names its schema in the location, so that two schemas are two stores', () => {
    const url = 'postgresql://h/d?options=-c%20search_path=one';
    expect(parsed(url).location).to.equal('PostgreSQL at h:5432, database d, schema one');
  });

  for (const url of ['', 'mysql://h/d', 'postgresql//h/d', 'postgresql://u:se%cret@[h/d'])
    it(`is refused as ${url || 'an empty text'}, and not quoted`, () => {
      expect(() => parsed(url))
        .to.throw(StoreConfigError, /POSTGRESQL_URL is not of the form/)
        .with.property('message')
        .that.does.not.include('cret');
    });

  it('cannot set what the guarantees of the service depend on, and the message has no value of it', () => {
    expect(() => parsed('postgresql://h/d?client_encoding=SECRET'))
      .to.throw(StoreConfigError, /sets client_encoding/)
      .with.property('message')
      .that.does.not.include('SECRET');
  });

  for (const [parameters, message] of [
    ['sslmode=bogus', /^sslmode in POSTGRESQL_URL is neither disable nor verify-full/],
    ['sslmode=', /^sslmode in POSTGRESQL_URL is neither/],
    ['sslmode=require', /^sslmode in POSTGRESQL_URL is neither .*; write sslmode=verify-full/],
    ['pgbouncer=true', /^POSTGRESQL_URL sets pgbouncer, .*; leave it out, and set POSTGRESQL_PREPARED=off/],
    ['sslmode=verify-full&channel_binding=require', /^POSTGRESQL_URL sets channel_binding, .*; leave it out/],
    ['schema=shop', /; write options=-c%20search_path=SCHEMA\.$/],
    ['ssl=true', /; write sslmode=verify-full\.$/],
    ['uselibpqcompat=true', /^POSTGRESQL_URL sets uselibpqcompat/],
    ['sslmode=require&sslmode=disable', /^POSTGRESQL_URL sets sslmode twice/],
    ['statement_timeout=abc', /^statement_timeout in POSTGRESQL_URL is no time/],
    ['statement_timeout=0', /^statement_timeout in POSTGRESQL_URL is no time/],
    ['connect_timeout=-5', /^connect_timeout in POSTGRESQL_URL is no time/],
    ['connect_timeout=1e9', /^connect_timeout in POSTGRESQL_URL is no time/],
  ] as const)
    it(`cannot have ${parameters}`, () => {
      expect(() => parsed(`postgresql://h/d?${parameters}`)).to.throw(StoreConfigError, message);
    });

  it('takes times, which the service needs itself', () => {
    const { operations, searches, client } = parsed('postgresql://h/d?connect_timeout=3&statement_timeout=700');
    expect(operations).to.include({ connectionTimeoutMillis: 3_000, statement_timeout: 700, query_timeout: 1_200 });
    expect(searches).to.include({ statement_timeout: QUERY_MS, query_timeout: 3_500 });
    expect(client).not.to.have.property('statement_timeout');
    expect(client.connectionString).not.to.include('timeout');
  });

  it('keeps its options before those of the service, which so prevail', () => {
    const { client, searches } = parsed('postgresql://h/d?options=-c%20search_path%3Done');
    const options = ({ connectionString }: typeof client) =>
      new URL(connectionString ?? '').searchParams.get('options');
    expect(options(client)).to.equal(
      String.raw`-c search_path=one -c default_transaction_isolation=read\ committed -c jit=off -c catalogue.session=on`,
    );
    expect(options(searches)).to.equal(options(client));
  });

  for (const [url, isUnprotected] of [
    ['postgresql://localhost/d', false],
    ['postgresql://127.0.0.1/d', false],
    ['postgresql://[::1]/d', false],
    ['postgresql:///d?host=/run/postgresql', false],
    ['postgresql://db.example/d', false],
    ['postgresql://localhost/d?sslmode=disable', false],
    ['postgresql://localhost.example/d?sslmode=disable', true],
    ['postgresql://127.example/d?sslmode=disable', true],
    ['postgresql://db.example/d?sslmode=disable', true],
    ['postgresql://db.example/d?sslmode=verify-full', false],
  ] as const)
    it(`${isUnprotected ? 'is' : 'is not'} unprotected as ${url}`, () => {
      expect(parsed(url).isUnprotected).to.equal(isUnprotected);
    });

  describe('alone decides about TLS, whatever the variables of the driver say', () => {
    const VARIABLES = { PGSSLMODE: 'no-verify', PGSSLNEGOTIATION: 'direct' };
    const before = Object.keys(VARIABLES).map((name) => [name, process.env[name]] as const);
    beforeEach(() => Object.assign(process.env, VARIABLES));
    afterEach(() => {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });

    for (const [at, expected] of [
      ['127.0.0.1/d', false],
      ['h/d?host=/run/postgresql', false],
      ['127.0.0.1/d?sslmode=verify-full', {}],
      ['h/d', {}],
      ['h/d?sslmode=disable', false],
      ['h/d?sslmode=verify-full', {}],
    ] as const)
      it(`of ${at}`, () => {
        for (const part of ['client', 'operations', 'searches'] as const)
          expect(new pg.Client(parsed(`postgresql://${at}`)[part]).ssl).to.deep.equal(expected);
      });
  });

  it('keeps a plus in the password, and reads the files of TLS once', () => {
    const { client } = parsed('postgresql://u:a+b@h/d?sslmode=verify-full');
    expect(new pg.Client(client).password).to.equal('a+b');
    expect(client.connectionString).to.not.include('ssl');
    expect(() => parsed('postgresql://h/d?sslrootcert=/nowhere/ca.pem')).to.throw(
      StoreConfigError,
      'A file that POSTGRESQL_URL names cannot be read (ENOENT).',
    );
  });

  it('gives connections no settings that PgBouncer in transaction mode refuses, and leaves the time to the role', () => {
    const { client, operations, searches, roleMs } = parseUrl('postgresql://h/d', QUERY_MS, false);
    for (const config of [client, operations, searches]) {
      expect(config).not.to.have.property('statement_timeout');
      expect(config.connectionString).not.to.include('options');
    }
    expect(operations.query_timeout).to.equal(2_000);
    expect(searches.query_timeout).to.equal(QUERY_MS + 500);
    expect([roleMs, parsed('postgresql://h/d').roleMs]).to.deep.equal([1_500, undefined]);
    expect(parseUrl('postgresql://h/d?statement_timeout=20000', QUERY_MS, false).roleMs).to.equal(QUERY_MS);
    expect(() => parseUrl('postgresql://h/d?options=-c%20search_path%3Done', QUERY_MS, false)).to.throw(
      StoreConfigError,
      /sets options, which is not possible with POSTGRESQL_PREPARED=off/,
    );
  });

  it('gets a time for each statement unless it has one', () => {
    expect(withStatementTimeout('postgresql://h/d', 60_000)).to.equal('postgresql://h/d?statement_timeout=60000');
    const own = 'postgresql://h/d?statement_timeout=7';
    expect(withStatementTimeout(own, 60_000)).to.equal(own);
    expect(withStatementTimeout('no URL', 60_000)).to.equal('no URL');
  });
});
