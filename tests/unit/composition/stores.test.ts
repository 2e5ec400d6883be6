import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { sqliteStorage } from '#src/adapters/outbound/sqlite/storage.js';
import type { Diagnosis } from '#src/application/ports/diagnostics.js';
import { checkService } from '#src/composition/check.js';
import { copyStores } from '#src/composition/copy-stores.js';
import { storageOf } from '#src/composition/storage.js';
import { STORES, storeAt, storeUrlForms } from '#src/composition/stores/index.js';
import type { StoreRegistration } from '#src/composition/stores/registration.js';
import { loadSettings, type Settings } from '#src/config/settings.js';
import { defaultValues } from '#src/config/settings-layers.js';
import { describeSettings, settingsSchema } from '#src/config/settings-schema.js';
import { settingsDocument } from '../../../scripts/settings-document.js';
import { product } from '../../contract/repository/records.js';
import { list } from '../../support/list.js';
import { ENDLESS, TABLES } from '../../support/tables.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Values of `db.system.name`: https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/ */
const NAMES_OF_DATABASES = list`
  actian.ingres  aws.dynamodb  aws.redshift  azure.cosmosdb  cassandra  clickhouse  cockroachdb
  couchbase  couchdb  derby  elasticsearch  firebirdsql  gcp.spanner  geode  h2database  hbase
  hive  hsqldb  ibm.db2  ibm.informix  ibm.netezza  influxdb  instantdb  intersystems.cache
  mariadb  memcached  microsoft.sql_server  mongodb  mysql  neo4j  opensearch  oracle.db
  other_sql  postgresql  redis  sap.hana  sap.maxdb  softwareag.adabas  sqlite  teradata  trino`;

const fileIn = (folder: string) => join(folder, 'level.data');

/** A store that keeps its tables as SQLite does. Nothing but this object knows it. */
const LEVEL: StoreRegistration<'LEVEL_FOLDER'> = {
  processes: 'one',
  settings: {
    LEVEL_FOLDER: Joi.string()
      .when('STORE', { is: 'level', then: Joi.required(), otherwise: Joi.allow('').default('') })
      .messages({ 'any.required': 'LEVEL_FOLDER is required by STORE=level' })
      .description('The folder of `STORE=level`.'),
  },
  load:
    async ({ LEVEL_FOLDER }) =>
    (options) =>
      sqliteStorage({ file: fileIn(LEVEL_FOLDER), ...options }),
  kept: {
    urlForm: 'level:FOLDER',
    settingsOf: (url) => (url.startsWith('level:') ? { LEVEL_FOLDER: url.slice(6) } : undefined),
    check: async ({ LEVEL_FOLDER }, { tables, deep }) => ({
      diagnoses: [{ subject: 'store', verdict: 'ok', message: `${LEVEL_FOLDER}: ${tables.length} tables, ${deep}` }],
    }),
    files: ({ LEVEL_FOLDER }) => ({ database: fileIn(LEVEL_FOLDER), secret: [fileIn(LEVEL_FOLDER)] }),
    backupAdvice: 'Copy the folder.',
  },
};
const FIVE = { ...STORES, level: LEVEL };

describe('the name of a store', () => {
  it('is that of its database in traces and metrics, by the convention of OpenTelemetry', () => {
    const { memory: _, ...databases } = STORES;
    expect(NAMES_OF_DATABASES).to.include.members(Object.keys(databases));
  });
});

describe('a fifth store', () => {
  const root = temporaryFolder();
  const schema = settingsSchema(FIVE);
  const issuesOf = (values: object) =>
    schema
      .validate({ ...defaultValues(), ...values }, { abortEarly: false, errors: { wrap: { label: false } } })
      .error?.details.map(({ message }) => message) ?? [];
  const settingsOf = (values: object) => ({ ...loadSettings({}), ...values }) as Settings;

  it('brings its value of STORE and its settings', () => {
    expect(issuesOf({ STORE: 'level', LEVEL_FOLDER: 'x' })).to.deep.equal([]);
    expect(issuesOf({ STORE: 'level' })).to.deep.equal(['LEVEL_FOLDER is required by STORE=level']);
    expect(issuesOf({ STORE: 'sqlite' })).to.deep.equal([]);
    expect(() => loadSettings({ STORE: 'level' })).to.throw('STORE must be');
  });

  it('says how many processes can open it', () => {
    const wrong = 'WORKERS must be 1 with STORE=level, which only one process can open';
    expect(issuesOf({ STORE: 'level', LEVEL_FOLDER: 'x', WORKERS: 2 })).to.deep.equal([wrong]);
    const workers = describeSettings(schema).find(({ name }) => name === 'WORKERS');
    expect(workers?.description).to.match(/a `STORE` other than `memory` and (.* and )?`level`\.$/);
  });

  it('is in the page of the settings', () => {
    const lines = settingsDocument(describeSettings(schema)).split('\n');
    expect(lines).to.include('| `LEVEL_FOLDER` | none | text | The folder of `STORE=level`. |');
    const ofStore = lines.find((line) => line.startsWith('| `STORE`'));
    expect(ofStore).to.include(
      `${Object.keys(STORES)
        .map((name) => `\`${name}\``)
        .join(', ')}, \`level\``,
    );
  });

  it('can be named by catalogue copy, as source and as target', async () => {
    expect(storeUrlForms(FIVE)).to.match(/sqlite:FILE, .*or level:FOLDER$/);
    expect(storeAt('level:x', FIVE)?.settings).to.deep.equal({ LEVEL_FOLDER: 'x' });
    expect(storeAt('level:x')).to.equal(undefined);
    const folder = mkdtempSync(join(root, 'copy-'));
    const [from, to] = [join(folder, 'from.sqlite'), join(folder, 'to.sqlite')];
    mkdirSync(join(folder, 'level'));
    const { store, products } = storageOf(sqliteStorage({ file: from, tables: TABLES, budget: ENDLESS }));
    await store.open();
    await products.insertAll([product(1)]);
    await store.close();
    for (const [source, target] of [
      [`sqlite:${from}`, `level:${folder}/level`],
      [`level:${folder}/level`, `sqlite:${to}`],
    ] as const) {
      const reports = await copyStores(source, target, { progress: () => {} }, FIVE);
      expect(reports.find(({ name }) => name === 'products')).to.include({ written: 1 });
    }
    expect(existsSync(fileIn(join(folder, 'level')))).to.equal(true);
  });

  it('is examined by catalogue check, with its files', async () => {
    const folder = mkdtempSync(join(root, 'check-'));
    const findingsOf = async (values: object) => {
      const settings = settingsOf({ DATA_DIR: folder, PORT: 0, MANAGEMENT_PORT: 0, ...values });
      const findings: Diagnosis[] = [];
      for await (const finding of checkService(settings, true, FIVE)) findings.push(finding);
      return findings;
    };
    const findings = await findingsOf({ STORE: 'level', LEVEL_FOLDER: folder });
    const message = `${folder}: ${TABLES.length} tables, true`;
    expect(findings).to.deep.include({ subject: 'store', verdict: 'ok', message });
    const ofMemory = (await findingsOf({ STORE: 'memory' })).find(({ subject }) => subject === 'store');
    expect(ofMemory?.remedy).to.match(/^set STORE to sqlite, .*or level, unless this is a trial$/);
  });
});
