import Joi from 'joi';
import { type StoreRegistration, serverUrl } from './registration.js';

export const MONGODB: StoreRegistration<'MONGODB_URL'> = {
  processes: 'many',
  settings: {
    MONGODB_URL: serverUrl()
      .pattern(/^mongodb(\+srv)?:\/\/./)
      .messages({
        'string.pattern.base': 'MONGODB_URL must begin with mongodb:// or mongodb+srv://',
        'any.required': 'MONGODB_URL is required by STORE=mongodb',
      })
      .when('STORE', { is: 'mongodb', then: Joi.required(), otherwise: Joi.allow('').default('') })
      .description(
        'The connection string of a replica set or of mongos (MongoDB 5.0 or later), required with `STORE=mongodb`; ' +
          'the database is the one that it names, or `catalogue`.',
      ),
  },
  load: async ({ MONGODB_URL: url }) => {
    const { mongoStorage } = await import('../../adapters/outbound/mongo/storage.js');
    return (options) => mongoStorage({ url, ...options });
  },
  kept: {
    urlForm: 'mongodb://HOST/DATABASE',
    settingsOf: (url) => (/^mongodb(\+srv)?:\/\/./.test(url) ? { MONGODB_URL: url } : undefined),
    check: async ({ MONGODB_URL: url }, { tables, now }) => {
      const { checkMongo } = await import('../../adapters/outbound/mongo/check.js');
      return checkMongo(url, tables, now);
    },
    backupAdvice: 'Use mongodump and mongorestore.',
  },
};
