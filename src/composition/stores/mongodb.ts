import type { StoreRegistration } from './registration.js';

const FORM = /^mongodb(\+srv)?:\/\/./;

export const MONGODB: StoreRegistration<'MONGODB_URL'> = {
  processes: 'many',
  settings: {
    MONGODB_URL: {
      type: 'text',
      absent: '',
      secrecy: 'url',
      requiredBy: { name: 'STORE', value: 'mongodb' },
      issue: (url) =>
        FORM.test(url) ? undefined : 'MONGODB_URL must begin with mongodb:// or mongodb+srv://',
      description:
        'The connection string of a replica set or of mongos (MongoDB 5.0 or later), required with `STORE=mongodb`; ' +
        'the database is the one that it names, or `catalogue`.',
    },
  },
  load: async ({ MONGODB_URL: url }) => {
    const { mongoStorage } = await import('../../adapters/outbound/mongo/storage.js');
    return (options) => mongoStorage({ url, ...options });
  },
  kept: {
    urlForm: 'mongodb://HOST/DATABASE',
    settingsOf: (url) => (FORM.test(url) ? { MONGODB_URL: url } : undefined),
    check: async ({ MONGODB_URL: url }, { tables, now }) => {
      const { checkMongo } = await import('../../adapters/outbound/mongo/check.js');
      return checkMongo(url, tables, now);
    },
    backupAdvice: 'Use mongodump and mongorestore.',
  },
};
