import type { IndexDescription, IndexDescriptionInfo } from 'mongodb';
import type { CollectionIndexes } from './indexes.js';

const BY_ID = JSON.stringify({ _id: 1 });

/**
 * What of the indexes that a collection has must not be there: one in the place of an index that the service needs, and
 * one that would remove records or refuse them. Since MongoDB 5.0 `unique` and `sparse` are a part of an index's identity
 * (https://jira.mongodb.org/browse/SERVER-47657), so the server makes ours beside such a one and says nothing.
 * @returns a line for a person for each of them
 */
export function findUnusableIndexes(
  { collection, indexes }: CollectionIndexes,
  found: readonly IndexDescriptionInfo[],
): string[] {
  return found.flatMap((one) => {
    const place = indexes.find((wanted) => wanted.name === one.name || isAlike(wanted, one));
    if (place && place.name === one.name && isAlike(place, one)) return [];
    if (place)
      return [`${collection} has another index, ${one.name}, in the place of ${place.name}; drop that one.`];
    const harm = harmOf(one);
    return harm ? [`${collection} has an index, ${one.name}, that ${harm}; drop it.`] : [];
  });
}

/** In key and options. */
function isAlike(one: IndexDescription, other: IndexDescription): boolean {
  return JSON.stringify(one.key) === JSON.stringify(other.key) && optionsOf(one) === optionsOf(other);
}

function optionsOf(index: IndexDescription): string {
  const { unique = false, sparse = false, expireAfterSeconds, partialFilterExpression, collation } = index;
  return JSON.stringify([unique, sparse, expireAfterSeconds, partialFilterExpression, collation]);
}

function harmOf(index: IndexDescriptionInfo): string | undefined {
  if (index.expireAfterSeconds !== undefined) return 'removes documents after a time';
  if (JSON.stringify(index.key) === BY_ID)
    return index.collation && 'shows that the collection compares text by rules of its own';
  if (index.unique || index['prepareUnique']) return 'is unique and refuses records';
  const isPlain = Object.entries(index.key).every(
    ([path, kind]) => typeof kind === 'number' || (path === '_id' && kind === 'hashed'),
  );
  return isPlain ? undefined : 'is of a kind that refuses some records';
}
