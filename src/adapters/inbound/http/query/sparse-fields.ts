import { metadata } from '../../../../application/records/record-view.js';
import type { Versioned } from '../../../../domain/record.js';
import type { ParameterDescription } from '../openapi/description.js';
import type { ResourceDefinition } from '../resources/resource-definition.js';
import { nameListIssues, type Parameter, type Query } from './query.js';

/** The fields of a record that a response shows. */
export interface View<Fields> {
  /** Identifies the view: its fields, in the order of presentation. Absent for the default view. */
  readonly name?: string;
  present(record: Versioned<Fields>): object;
}

/** The parameter `fields`, such as `fields=id,name,version`. A response shows only these fields. */
export class SparseFields<Fields> {
  readonly parameter: Parameter;
  private readonly names: readonly string[];

  constructor(private readonly resource: ResourceDefinition<Fields>) {
    const resourceFields = Object.keys(resource.schema.describe()['keys'] ?? {});
    this.names = ['id', ...resourceFields, 'version', 'createdAt', 'updatedAt'];
    this.parameter = { issues: (text) => nameListIssues('fields', text.split(','), this.names) };
  }

  description(): ParameterDescription {
    return {
      name: 'fields',
      description: 'Show only these fields. A field that has no value is left out.',
      schema: { type: 'array', minItems: 1, items: { type: 'string', enum: this.names } },
      style: 'form',
      explode: false,
      example: ['id', 'version'],
    };
  }

  /** @param query a valid query */
  read(query: Query): View<Fields> {
    const { resource } = this;
    const requestedNames = query.get('fields')?.split(',');
    if (!requestedNames) return { present: (record) => resource.present(record) };
    const shown = this.names.filter((name) => requestedNames.includes(name));
    return {
      name: shown.join(','),
      present: (record) => {
        const all = Object.entries({ ...resource.present(record), ...metadata(record) });
        return Object.fromEntries(all.filter(([name]) => shown.includes(name)));
      },
    };
  }
}
