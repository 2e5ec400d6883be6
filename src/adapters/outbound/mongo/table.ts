import type { Document } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';

/** What the repository needs to know of a resource. */
export interface MongoTable<Fields> extends RecordTable {
  /** The fields as a document. Names of its members come from the code alone, never from a client. */
  toDocument(fields: Fields): Document;
  toFields(document: Document): Fields;
}

export function mongoTable<Fields extends object>(table: RecordTable): MongoTable<Fields> {
  const hasAttributes = Object.values(table.fields).some(({ type }) => type === 'attributes');
  return { ...table, ...(hasAttributes ? attributesAsList<Fields>() : plainFields<Fields>()) };
}

/** For fields that are a document as they are. */
function plainFields<Fields extends object>(): Pick<MongoTable<Fields>, 'toDocument' | 'toFields'> {
  return { toDocument: (fields) => ({ ...fields }), toFields: (document) => document as Fields };
}

interface WithAttributes {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/**
 * Attribute keys are data, in which `.` and `$` mean nothing; as names of a document's members they would. So
 * attributes are a list of key and value.
 */
function attributesAsList<Fields extends WithAttributes>(): Pick<
  MongoTable<Fields>,
  'toDocument' | 'toFields'
> {
  return {
    toDocument({ attributes, ...rest }) {
      if (!attributes) return rest;
      return { ...rest, attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })) };
    },

    toFields({ attributes, ...rest }) {
      if (!attributes) return rest as Fields;
      const entries = attributes as { key: string; value: unknown }[];
      return {
        ...rest,
        attributes: Object.fromEntries(entries.map(({ key, value }) => [key, value])),
      } as Fields;
    },
  };
}
