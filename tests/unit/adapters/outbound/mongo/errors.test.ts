import { expect } from 'chai';
import {
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';
import {
  isCursorLost,
  isDuplicateKey,
  isTooExpensive,
  rejectedDocuments,
  signOf,
  translateError,
  violatedIndex,
} from '#src/adapters/outbound/mongo/errors.js';
import { AppError, unavailable } from '#src/domain/errors.js';
import { list } from '../../../../support/list.js';

/** Names and codes of MongoDB. */
const codes = (names: readonly string[]) => names.map((name) => Number(name.split('=')[1]));
const LOST_CURSOR = codes(list`
  CursorNotFound=43  OperationFailed=96  QueryPlanKilled=175  CursorKilled=237  ObjectIsBusy=314`);
const TEMPORARY = codes(list`
  HostUnreachable=6  HostNotFound=7  AuthenticationFailed=18  LockTimeout=24  MaxTimeMSExpired=50
  StaleShardVersion=63  WriteConcernTimeout=64  NetworkTimeout=89  ShutdownInProgress=91
  WriteConflict=112  FailedToSatisfyReadPreference=133  ReadConcernMajorityNotAvailableYet=134
  PooledConnectionsDropped=145  StaleEpoch=150  PrimarySteppedDown=189
  NetworkInterfaceExceededTimeLimit=202  ElectionInProgress=216  IncompleteTransactionHistory=217
  TransactionTooOld=225  SnapshotTooOld=239  SnapshotUnavailable=246  StaleDbVersion=249
  StaleChunkHistory=250  ExceededTimeLimit=262  MigrationConflict=272  ConnectionPoolExpired=317
  InterruptedDueToStorageChange=355  InternalTransactionNotSupported=358
  TemporarilyUnavailable=365  UserWritesBlocked=371  ResourceExhausted=402
  MigrationBlockingOperationCoordinatorCleaningUp=406
  PooledConnectionAcquisitionExceededTimeLimit=407  UpdatesStillPending=412
  InterruptedDueToReshardingCriticalSection=453  IngressRequestRateLimitExceeded=462
  SocketException=9001  LegacyNotPrimary=10058  NotWritablePrimary=10107
  InterruptedAtShutdown=11600  Interrupted=11601  InterruptedDueToReplStateChange=11602
  StaleConfig=13388  NotPrimaryNoSecondaryOk=13435  NotPrimaryOrSecondary=13436
  OutOfDiskSpace=14031  ClientMarkedKilled=46841  BackupCursorOpenConflictWithCheckpoint=50915
  RetriableRemoteCommandFailure=91331  InterruptedDueToFCVChange=10045600`);
const PERMANENT = codes(list`
  BadValue=2  Unauthorized=13  CommandNotFound=59  InvalidOptions=72  IndexOptionsConflict=85
  NotAReplicaSet=123  DuplicateKey=11000`);
const [MAX_TIME_EXPIRED, DUPLICATE_KEY] = [50, 11_000];

describe('an error of MongoDB', () => {
  it('is temporary, so the store is unavailable, or a defect, which stays unchanged, by its code', () => {
    for (const error of [...LOST_CURSOR, ...TEMPORARY].map((code) => serverError({ code })))
      expectUnavailable(translateError(error), error);
    for (const error of PERMANENT.map((code) => serverError({ code }))) expect(translateError(error)).to.equal(error);
  });

  it('is temporary with a label that says so', () => {
    for (const label of list`RetryableWriteError  TransientTransactionError  SystemOverloadedError  HandshakeError`) {
      const error = serverError({ code: 2, errorLabels: [label] });
      expectUnavailable(translateError(error), error);
    }
  });

  it('of the network or a missing majority acknowledgement is temporary, with any code', () => {
    const unacknowledged = new MongoWriteConcernError({ ok: 1, writeConcernError: { code: 79, errmsg: 'no' } });
    for (const error of [unacknowledged, new MongoNetworkError('cut')]) expectUnavailable(translateError(error), error);
  });

  it('is a response if it is one of the server, and tells of an outage if there is no primary', () => {
    const answer = new MongoServerError({ message: 'duplicate key', code: 11_000 });
    const noPrimary = new MongoServerSelectionError('no primary', { servers: new Map() } as never);
    const signs = [answer, noPrimary, new MongoNetworkError('cut')].map(signOf);
    expect(signs).to.deep.equal(['response', 'down', 'silence']);
  });

  it('stays unchanged if the driver was misused, or if it is not of the driver', () => {
    for (const error of [new MongoInvalidArgumentError('x'), new TypeError('x'), unavailable('x'), 'x'])
      expect(translateError(error)).to.equal(error);
  });

  it('is classified as a lost cursor, an expensive query or a duplicate key', () => {
    const QUERY_EXCEEDED_MEMORY = 292;
    const all = [...LOST_CURSOR, ...TEMPORARY, ...PERMANENT, QUERY_EXCEEDED_MEMORY];
    const codesOf = (is: (error: unknown) => boolean) => all.filter((code) => is(serverError({ code })));
    expect(codesOf(isCursorLost)).to.deep.equal(LOST_CURSOR);
    expect(codesOf(isTooExpensive)).to.deep.equal([MAX_TIME_EXPIRED, QUERY_EXCEEDED_MEMORY]);
    expect(codesOf(isDuplicateKey)).to.deep.equal([DUPLICATE_KEY]);
  });

  it('names the violated index by its key or its name; without either it is a defect', () => {
    const indexIn = (message: string, keyPattern?: object) =>
      violatedIndex(new MongoServerError({ message, code: 11_000, keyPattern }));
    expect(indexIn('x', { 'fields.sku': 1 })).to.deep.equal({ path: 'fields.sku' });
    for (const keyPattern of [undefined, {}]) {
      for (const [name, message] of [
        ['sku', 'E11000 … collection: c.products index: sku dup key: { : 1 }'],
        ['a b', "Duplicate key violation on the requested collection: Index 'a b'"],
      ] as const)
        expect(indexIn(message, keyPattern)).to.deep.equal({ name });
      expect(() => indexIn('x', keyPattern)).to.throw('does not name the index');
    }
  });

  it('of Node about a connection or a look-up of names is temporary', () => {
    const broken = ['ECONNRESET read', 'EPIPE write', 'ETIMEDOUT connect', 'ENOTFOUND querySrv', 'ESERVFAIL queryTxt'];
    const system = broken.map((text) => {
      const [code, syscall] = text.split(' ');
      return Object.assign(new Error(text), { code, syscall });
    });
    // EPIPE is the error of a socket that the other side has closed.
    const withoutSyscall = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].map((code) =>
      Object.assign(new Error('x'), { code }),
    );
    for (const error of [...system, ...withoutSyscall]) {
      expectUnavailable(translateError(error), error);
      const wrapped = asBulkError(error);
      expectUnavailable(translateError(wrapped), wrapped);
    }
    const file = Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' });
    const misuse = Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' });
    for (const error of [file, misuse]) expect(translateError(error)).to.equal(error);
  });
});

describe('a failed bulk insertion into MongoDB', () => {
  const duplicate = (index: number, name: string) => ({
    index,
    code: 11_000,
    errmsg: `E11000 duplicate key error collection: c.products index: ${name} dup key: { x: 1 }`,
  });
  const outcomeOf = (error: unknown): unknown => {
    try {
      return rejectedDocuments(error);
    } catch (thrown) {
      return thrown;
    }
  };

  it('reports the rejected documents and the violated index of each', () => {
    const rejected = rejectedDocuments(bulkError([duplicate(3, '_id_'), duplicate(5, 'sku')]));
    expect([...rejected]).to.deep.equal([
      [3, '_id_'],
      [5, 'sku'],
    ]);
  });

  it('is unavailable if one error is temporary', () => {
    for (const code of [112, 10_107, 13_388]) {
      const error = bulkError([duplicate(0, 'sku'), { index: 1, code, errmsg: 'x' }]);
      expectUnavailable(outcomeOf(error), error);
    }
  });

  it('is unavailable if the network failed, which the driver wraps in a bulk write error', () => {
    const selection = { type: 'Unknown', servers: new Map() } as never;
    for (const cause of [new MongoNetworkError('cut'), new MongoServerSelectionError('gone', selection)]) {
      const error = asBulkError(cause);
      expectUnavailable(translateError(error), error);
    }
    const misuse = asBulkError(new MongoInvalidArgumentError('x'));
    expect(translateError(misuse)).to.equal(misuse);
  });

  it('is unavailable if the majority did not acknowledge', () => {
    const error = bulkError([duplicate(0, 'sku')], true);
    expectUnavailable(outcomeOf(error), error);
  });

  it('stays unchanged after any other error, or without an error', () => {
    for (const error of [bulkError([duplicate(0, 'sku'), { index: 1, code: 121, errmsg: 'x' }]), bulkError([])])
      expect(outcomeOf(error)).to.equal(error);
    const other = new Error('x');
    expect(outcomeOf(other)).to.equal(other);
  });

  it('is a defect if the index is not named', () => {
    for (const errmsg of [undefined, 'E11000'])
      expect(() => rejectedDocuments(bulkError([{ index: 0, code: 11_000, errmsg }]))).to.throw(
        'does not name the index',
      );
  });
});

function expectUnavailable(outcome: unknown, cause: unknown): void {
  expect(outcome).to.be.instanceOf(AppError).with.property('code', 'unavailable');
  expect(outcome).to.have.property('cause', cause);
}

function serverError(reply: object): MongoServerError {
  return new MongoServerError({ message: 'x', ...reply });
}

function asBulkError(cause: Error): MongoBulkWriteError {
  return new MongoBulkWriteError(cause as never, { getWriteConcernError: () => undefined } as never);
}

interface WriteError {
  readonly index: number;
  readonly code: number;
  readonly errmsg: string | undefined;
}

function bulkError(writeErrors: WriteError[], lacksMajority = false): MongoBulkWriteError {
  const result = { getWriteConcernError: () => (lacksMajority ? { code: 64 } : undefined) };
  return new MongoBulkWriteError({ message: 'x', writeErrors } as never, result as never);
}
