import { metadata } from '../../../application/records/record-view.js';
import type { Versioned } from '../../../domain/record.js';
import type { ParameterDescription } from './openapi/description.js';
import { nameListFaults, type Parameter, type Query } from './query/query.js';
import type { ResourceDescription } from './resource-description.js';

/** What a client is shown of a record. */
export interface View<Fields> {
  /** What tells the view from the usual one: its fields, in the order of presentation. Absent: the usual one. */
  readonly name?: string;
  present(record: Versioned<Fields>): object;
}

/** `fields=id,name,version`: these, where they have a value, and no others. */
export class Views<Fields> {
  readonly parameter: Parameter;
  private readonly names: readonly string[];

  constructor(private readonly resource: ResourceDescription<Fields>) {
    const own = Object.keys(resource.schema.describe()['keys'] ?? {});
    this.names = ['id', ...own, 'version', 'createdAt', 'updatedAt'];
    this.parameter = { faults: (text) => nameListFaults('fields', text.split(','), this.names) };
  }

  described(): ParameterDescription {
    return {
      name: 'fields',
      description: 'Show only these fields. A field that has no value is left out.',
      schema: { type: 'array', minItems: 1, items: { type: 'string', enum: this.names } },
      style: 'form',
      explode: false,
      example: ['id', 'version'],
    };
  }

  /** @param query one without fault */
  read(query: Query): View<Fields> {
    const { resource } = this;
    const asked = query.get('fields')?.split(',');
    if (!asked) return { present: (record) => resource.present(record) };
    const shown = this.names.filter((name) => asked.includes(name));
    return {
      name: shown.join(','),
      present: (record) => {
        const all = Object.entries({ ...resource.present(record), ...metadata(record) });
        return Object.fromEntries(all.filter(([name]) => shown.includes(name)));
      },
    };
  }
}
