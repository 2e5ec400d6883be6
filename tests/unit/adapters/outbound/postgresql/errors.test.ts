import { expect } from 'chai';
import pg from 'pg';
import {
  isResponse,
  isTooExpensive,
  translateError,
  translateStartError,
  violatedIndex,
} from '#src/adapters/outbound/postgresql/errors.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { AppError, unavailable } from '#src/domain/errors.js';
import { list } from '../../../../support/list.js';

function databaseError(code: string, message = 'a message'): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code });
}

/** Errors of the server that may pass by another try, by SQLSTATE. */
const TEMPORARY = [
  ...list`08006 connection_failure  25006 read_only_sql_transaction  28000 invalid_authorization_specification`,
  ...list`28P01 invalid_password  40001 serialization_failure  40P01 deadlock_detected  53100 disk_full`,
  ...list`53200 out_of_memory  53300 too_many_connections  55P03 lock_not_available  57014 query_canceled`,
  ...list`57P01 admin_shutdown  57P02 crash_shutdown  57P03 cannot_connect_now  58030 io_error`,
];
const DEFINITE = { unique_violation: '23505', character_not_in_repertoire: '22021', syntax_error: '42601' };

describe('the errors of PostgreSQL', () => {
  it('are unavailable if they may pass by another try, and else stay', () => {
    for (const name of TEMPORARY) {
      const error = databaseError(name.slice(0, 5));
      expect(translateError(error), name).to.be.an.instanceOf(AppError).and.deep.include({
        code: 'unavailable',
        cause: error,
      });
    }
    for (const error of Object.values(DEFINITE).map((code) => databaseError(code)))
      expect(translateError(error)).to.equal(error);
  });

  it('of the driver about a connection are unavailable', () => {
    for (const error of [
      Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
      new Error('Connection terminated unexpectedly'),
      new Error('timeout exceeded when trying to connect'),
      new Error('Query read timeout'),
    ]) {
      expect(translateError(error)).to.be.an.instanceOf(AppError).with.property('code', 'unavailable');
      expect(isResponse(error)).to.equal(false);
    }
  });

  it('of this program stays', () => {
    const mistake = new TypeError('x is no function');
    expect(translateError(mistake)).to.equal(mistake);
    const own = unavailable('no');
    expect(translateError(own)).to.equal(own);
  });

  it('is a response, after which a connection can be used, unless the server stops or starts', () => {
    const codes = ['23505', '57014', '40P01', '53100', '57P01', '57P03', '08006', '53300'];
    expect(codes.filter((code) => isResponse(databaseError(code)))).to.deep.equal(codes.slice(0, 4));
  });

  it('is a query that costs the server too much, not one that an operator ends', () => {
    expect(isTooExpensive(databaseError('57014', 'canceling statement due to statement timeout'))).to.equal(true);
    expect(isTooExpensive(databaseError('57014', 'canceling statement due to user request'))).to.equal(false);
    expect(isTooExpensive(new Error('statement timeout'))).to.equal(false);
    expect(isTooExpensive(databaseError('54000', 'value is too big in tsquery'))).to.equal(true);
    expect(isTooExpensive(databaseError('53400', 'temporary file size exceeds temp_file_limit'))).to.equal(true);
  });

  it('names the unique index that refused a write', () => {
    const error = Object.assign(databaseError('23505'), { constraint: 'products_sku' });
    expect(violatedIndex(error)).to.equal('products_sku');
    expect(violatedIndex(Object.assign(databaseError('23514'), { constraint: 'products_check' }))).to.equal(undefined);
  });

  for (const error of [
    databaseError('28P01'),
    databaseError('3D000'),
    databaseError('3F000'),
    databaseError('42501'),
    databaseError('08P01', 'unsupported startup parameter: options'),
    Object.assign(new Error('self-signed certificate'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    Object.assign(new Error('another name'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    new Error('The server does not support SSL connections'),
    Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' }),
  ])
    it(`${(error as pg.DatabaseError).code ?? error.message} is no use to try again at the start`, () => {
      expect(translateStartError(error)).to.be.an.instanceOf(StoreConfigError);
    });

  it('of PgBouncer say what to write', () => {
    const words = (message: string) => (translateStartError(databaseError('08P01', message)) as Error).message;
    expect(words('unsupported startup parameter: options')).to.match(/\(08P01\)\. .*set POSTGRESQL_PREPARED=off\.$/);
    expect(words('SSL required')).to.match(/\(08P01\)\. Write sslmode=verify-full\.$/);
    expect(words('no such database: x')).to.match(/\(08P01\)\.$/);
  });

  it('at the start are unavailable else', () => {
    const missing = Object.assign(new Error('no such socket'), { code: 'ENOENT', syscall: 'connect' });
    for (const error of [
      databaseError('57P03'),
      databaseError('08P01', 'pgbouncer cannot connect to server'),
      new Error('Connection terminated unexpectedly'),
      missing,
    ])
      expect(translateStartError(error)).to.be.an.instanceOf(AppError).with.property('code', 'unavailable');
  });
});
