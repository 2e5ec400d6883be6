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
  toCoreError,
  violatedIndex,
} from '#src/adapters/outbound/mongo/errors.js';
import { AppError, unavailable } from '#src/domain/errors.js';

const LOST_CURSOR = {
  CursorNotFound: 43,
  OperationFailed: 96,
  QueryPlanKilled: 175,
  CursorKilled: 237,
  ObjectIsBusy: 314,
};

const PASSING = {
  ...LOST_CURSOR,
  HostUnreachable: 6,
  HostNotFound: 7,
  AuthenticationFailed: 18,
  LockTimeout: 24,
  MaxTimeMSExpired: 50,
  StaleShardVersion: 63,
  WriteConcernTimeout: 64,
  NetworkTimeout: 89,
  ShutdownInProgress: 91,
  WriteConflict: 112,
  FailedToSatisfyReadPreference: 133,
  ReadConcernMajorityNotAvailableYet: 134,
  PooledConnectionsDropped: 145,
  StaleEpoch: 150,
  PrimarySteppedDown: 189,
  NetworkInterfaceExceededTimeLimit: 202,
  ElectionInProgress: 216,
  IncompleteTransactionHistory: 217,
  TransactionTooOld: 225,
  SnapshotTooOld: 239,
  SnapshotUnavailable: 246,
  StaleDbVersion: 249,
  StaleChunkHistory: 250,
  ExceededTimeLimit: 262,
  MigrationConflict: 272,
  ConnectionPoolExpired: 317,
  InterruptedDueToStorageChange: 355,
  InternalTransactionNotSupported: 358,
  TemporarilyUnavailable: 365,
  UserWritesBlocked: 371,
  ResourceExhausted: 402,
  MigrationBlockingOperationCoordinatorCleaningUp: 406,
  PooledConnectionAcquisitionExceededTimeLimit: 407,
  UpdatesStillPending: 412,
  InterruptedDueToReshardingCriticalSection: 453,
  IngressRequestRateLimitExceeded: 462,
  SocketException: 9_001,
  LegacyNotPrimary: 10_058,
  NotWritablePrimary: 10_107,
  InterruptedAtShutdown: 11_600,
  Interrupted: 11_601,
  InterruptedDueToReplStateChange: 11_602,
  StaleConfig: 13_388,
  NotPrimaryNoSecondaryOk: 13_435,
  NotPrimaryOrSecondary: 13_436,
  OutOfDiskSpace: 14_031,
  ClientMarkedKilled: 46_841,
  BackupCursorOpenConflictWithCheckpoint: 50_915,
  RetriableRemoteCommandFailure: 91_331,
  InterruptedDueToFCVChange: 10_045_600,
};

const LASTING = {
  BadValue: 2,
  Unauthorized: 13,
  CommandNotFound: 59,
  InvalidOptions: 72,
  IndexOptionsConflict: 85,
  NotAReplicaSet: 123,
  DuplicateKey: 11_000,
};

describe('an error of MongoDB', () => {
  for (const [name, code] of Object.entries(PASSING)) {
    it(`says that the store is not there: ${name}`, () => {
      const error = serverError({ code });
      expectUnavailable(toCoreError(error), error);
    });
  }

  for (const [name, code] of Object.entries(LASTING)) {
    it(`is a defect, and stays what it is: ${name}`, () => {
      const error = serverError({ code });
      expect(toCoreError(error)).to.equal(error);
    });
  }

  for (const label of [
    'RetryableWriteError',
    'TransientTransactionError',
    'SystemOverloadedError',
    'HandshakeError',
  ]) {
    it(`says that the store is not there where it has the label ${label}`, () => {
      const error = serverError({ code: 2, errorLabels: [label] });
      expectUnavailable(toCoreError(error), error);
    });
  }

  it('says so where the majority did not acknowledge, whatever the code', () => {
    const error = new MongoWriteConcernError({ ok: 1, writeConcernError: { code: 79, errmsg: 'no' } });
    expectUnavailable(toCoreError(error), error);
  });

  it('says so where it comes from the way to the server', () => {
    const error = new MongoNetworkError('cut');
    expectUnavailable(toCoreError(error), error);
  });

  it('stays what it is where the driver was called wrongly, or it is none of the driver', () => {
    for (const error of [new MongoInvalidArgumentError('x'), new TypeError('x'), unavailable('x'), 'x'])
      expect(toCoreError(error)).to.equal(error);
  });

  it('is known as that of a lost cursor, of a costly query, of a value that is taken', () => {
    const codes = { ...PASSING, ...LASTING, QueryExceededMemoryLimitNoDiskUseAllowed: 292 };
    const namesOf = (is: (error: unknown) => boolean) =>
      Object.entries(codes).flatMap(([name, code]) => (is(serverError({ code })) ? [name] : []));
    expect(namesOf(isCursorLost)).to.deep.equal(Object.keys(LOST_CURSOR));
    expect(namesOf(isTooExpensive)).to.deep.equal([
      'MaxTimeMSExpired',
      'QueryExceededMemoryLimitNoDiskUseAllowed',
    ]);
    expect(namesOf(isDuplicateKey)).to.deep.equal(['DuplicateKey']);
  });

  it('names the index that refused, by its key or its name, and one that names none is a defect', () => {
    const refusing = (message: string, keyPattern?: object) =>
      violatedIndex(new MongoServerError({ message, code: 11_000, keyPattern }));
    expect(refusing('x', { 'fields.sku': 1 })).to.deep.equal({ path: 'fields.sku' });
    for (const keyPattern of [undefined, {}]) {
      expect(
        refusing('E11000 … collection: c.products index: sku dup key: { : 1 }', keyPattern),
      ).to.deep.equal({
        name: 'sku',
      });
      expect(refusing("Duplicate key violation on the requested collection: Index 'a b'")).to.deep.equal({
        name: 'a b',
      });
      expect(() => refusing('x', keyPattern)).to.throw('does not name the index');
    }
  });

  it('says that the store is not there where it is Node’s own, of a connection or a look-up of names', () => {
    const broken = [
      'ECONNRESET read',
      'EPIPE write',
      'ETIMEDOUT connect',
      'ENOTFOUND querySrv',
      'ESERVFAIL queryTxt',
    ];
    const system = broken.map((text) => {
      const [code, syscall] = text.split(' ');
      return Object.assign(new Error(text), { code, syscall });
    });
    // The first is of a socket that the other side has ended.
    const own = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].map((code) =>
      Object.assign(new Error('x'), { code }),
    );
    for (const error of [...system, ...own]) {
      expectUnavailable(toCoreError(error), error);
      const wrapped = dressed(error);
      expectUnavailable(toCoreError(wrapped), wrapped);
    }
    const file = Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' });
    const misuse = Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' });
    for (const error of [file, misuse]) expect(toCoreError(error)).to.equal(error);
  });
});

describe('an insertion of many into MongoDB that failed', () => {
  const taken = (index: number, name: string) => ({
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

  it('tells which documents were refused, and by which index', () => {
    const refused = rejectedDocuments(bulkError([taken(3, '_id_'), taken(5, 'sku')]));
    expect([...refused]).to.deep.equal([
      [3, '_id_'],
      [5, 'sku'],
    ]);
  });

  it('says that the store is not there where that is so of one of them', () => {
    for (const code of [112, 10_107, 13_388]) {
      const error = bulkError([taken(0, 'sku'), { index: 1, code, errmsg: 'x' }]);
      expectUnavailable(outcomeOf(error), error);
    }
  });

  it('says so where the way to the server failed, which the driver dresses as an answer of the server', () => {
    const selection = { type: 'Unknown', servers: new Map() } as never;
    for (const cause of [new MongoNetworkError('cut'), new MongoServerSelectionError('gone', selection)]) {
      const error = dressed(cause);
      expectUnavailable(toCoreError(error), error);
    }
    const misuse = dressed(new MongoInvalidArgumentError('x'));
    expect(toCoreError(misuse)).to.equal(misuse);
  });

  it('says so where the majority did not acknowledge', () => {
    const error = bulkError([taken(0, 'sku')], true);
    expectUnavailable(outcomeOf(error), error);
  });

  it('is what it was where anything else went wrong, or nothing is told', () => {
    for (const error of [bulkError([taken(0, 'sku'), { index: 1, code: 121, errmsg: 'x' }]), bulkError([])])
      expect(outcomeOf(error)).to.equal(error);
    const other = new Error('x');
    expect(outcomeOf(other)).to.equal(other);
  });

  it('is a defect where the index is not named', () => {
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

function dressed(cause: Error): MongoBulkWriteError {
  return new MongoBulkWriteError(cause as never, { getWriteConcernError: () => undefined } as never);
}

interface Refusal {
  readonly index: number;
  readonly code: number;
  readonly errmsg: string | undefined;
}

function bulkError(refusals: Refusal[], lacksMajority = false): MongoBulkWriteError {
  const result = { getWriteConcernError: () => (lacksMajority ? { code: 64 } : undefined) };
  return new MongoBulkWriteError({ message: 'x', writeErrors: refusals } as never, result as never);
}
