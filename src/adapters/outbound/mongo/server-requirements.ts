import type { Document } from 'mongodb';
import { UnusableStore } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';

/** What MongoDB 5.0 calls itself on the wire; from there on a query outside of a transaction may read a snapshot. */
const WIRE_VERSION_5_0 = 13;

/**
 * Judges a server by its answer to `hello`.
 * @throws UnusableStore where it can never read a snapshot; a query would fail with NotAReplicaSet or InvalidOptions
 * @throws CatalogueError `unavailable` where it waits for its replica set to be initiated
 */
export function checkServer({ setName, msg, isreplicaset, maxWireVersion }: Document): void {
  if (maxWireVersion < WIRE_VERSION_5_0)
    throw new UnusableStore('MONGODB_URL leads to a server older than MongoDB 5.0, which is needed.');
  if (setName || msg === 'isdbgrid') return;
  if (isreplicaset) throw unavailable('The replica set has not been initiated yet.');
  throw new UnusableStore(
    'MONGODB_URL leads to a standalone server. A replica set is needed, if only of one member: ' +
      'start mongod with --replSet, then run rs.initiate().',
  );
}
