import Joi from 'joi';
import { type StoreRegistration, serverUrl } from './registration.js';

const FORM = /^postgres(ql)?:\/\/./;

export const POSTGRESQL: StoreRegistration<'POSTGRESQL_URL' | 'POSTGRESQL_PREPARED'> = {
  processes: 'many',
  settings: {
    POSTGRESQL_URL: serverUrl()
      .pattern(FORM)
      .messages({
        'string.pattern.base': 'POSTGRESQL_URL must begin with postgresql://',
        'any.required': 'POSTGRESQL_URL is required by STORE=postgresql',
      })
      .when('STORE', { is: 'postgresql', then: Joi.required(), otherwise: Joi.allow('').default('') })
      .description(
        'The connection URL of a server (PostgreSQL 15 or later), required with `STORE=postgresql`; the database is the ' +
          'one that it names, or `catalogue`.',
      ),
    POSTGRESQL_PREPARED: Joi.string()
      .valid('on', 'off')
      .required()
      .description(
        'Whether `STORE=postgresql` has prepared statements and settings of its own on each connection; `off` is for ' +
          'PgBouncer in transaction mode.',
      ),
  },
  load: async ({ POSTGRESQL_URL: url, POSTGRESQL_PREPARED }) => {
    const { postgresqlStorage } = await import('../../adapters/outbound/postgresql/storage.js');
    return (options) => postgresqlStorage({ url, hasSessions: POSTGRESQL_PREPARED === 'on', ...options });
  },
  kept: {
    urlForm: 'postgresql://HOST/DATABASE',
    settingsOf: (url) => (FORM.test(url) ? { POSTGRESQL_URL: url, POSTGRESQL_PREPARED: 'on' } : undefined),
    check: async ({ POSTGRESQL_URL: url, POSTGRESQL_PREPARED }, { tables, now }) => {
      const { checkPostgresql } = await import('../../adapters/outbound/postgresql/check.js');
      return checkPostgresql(url, tables, now, POSTGRESQL_PREPARED === 'on');
    },
    backupAdvice: 'Use pg_dump and pg_restore.',
  },
};
