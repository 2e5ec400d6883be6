import { expect } from 'chai';
import { HAS_POSTGRESQL, PostgresqlServer, sharedPostgresql } from '../../support/postgresql-server.js';

if (HAS_POSTGRESQL)
  describe('a PostgreSQL server of the tests', () => {
    it('is shared, and gives each test a schema', async () => {
      const server = await sharedPostgresql();
      expect(await sharedPostgresql()).to.equal(server);
      const [one, other] = [await server.createSchema(), await server.createSchema()];
      await server.query('CREATE TABLE a ()', one);
      await server.query('CREATE TABLE a ()', other);
      await server.dropSchema(one);
      await server.dropSchema(other);
    });

    it('keeps its data when it is killed and started again', async () => {
      const server = await PostgresqlServer.start();
      await server.query('CREATE TABLE kept AS SELECT 7 AS value');
      await server.kill();
      await server.run();
      expect((await server.query('SELECT value FROM kept')).rows).to.deep.equal([{ value: 7 }]);
      await server.stop();
    });

    it('responds to nothing while it is suspended', async () => {
      const server = await PostgresqlServer.start();
      await server.query('SELECT 1');
      server.suspend();
      const impatient = { connectionTimeoutMillis: 200 };
      const failure = await server.query('SELECT 1', server.url(), impatient).catch((error: Error) => error);
      expect(failure).to.be.an('error').with.property('message').that.includes('timeout');
      server.resume();
      await server.query('SELECT 1');
      await server.kill();
    });
  });
