import { metadata } from '../../../../application/records/record-format.js';
import { responseJson } from '../../../../application/records/record-json.js';
import type { Versioned } from '../../../../domain/record.js';
import type { ParameterDescription } from '../core/description.js';
import type { Parameter, Query } from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { nameListIssues } from './query.js';

/** The fields of a record that a response shows. */
export interface FieldSelection<Fields> {
  /** Identifies the view: its fields, in the order of presentation. Absent for the default view. */
  readonly name?: string;
  /** Returns the JSON text of a record. */
  readonly toJson: (record: Versioned<Fields>) => string;
}

const METADATA: readonly string[] = ['version', 'createdAt', 'updatedAt'];

/** The parameter `fields`, such as `fields=id,name,version`. A response shows only these fields. */
export class FieldSelector<Fields> {
  readonly parameter: Parameter;
  private readonly names: readonly string[];
  private readonly defaultSelection: FieldSelection<Fields>;

  constructor(
    private readonly resource: ResourceDefinition<Fields>,
    shownOn: 'item' | 'list',
  ) {
    const { table, readOnlyFields = {}, itemFields = [] } = resource;
    const resourceFields = [...Object.keys(table), ...Object.keys(readOnlyFields)].filter(
      (name) => !METADATA.includes(name) && (shownOn === 'item' || !itemFields.includes(name)),
    );
    this.names = ['id', ...resourceFields, ...METADATA];
    this.defaultSelection = { toJson: (record) => responseJson(resource.present, record) };
    this.parameter = {
      isList: true,
      issues: (text) => nameListIssues('fields', text.split(','), this.names),
    };
  }

  /**
   * The parameter in the OpenAPI document. The document demands more than the service: see
   * docs/explanation/openapi.md.
   * @param required the fields without which a response breaks its schema
   */
  description(required: readonly string[]): ParameterDescription {
    const quoted = required.map((name) => `\`${name}\``).join(', ');
    return {
      name: 'fields',
      description: `Show only these fields. Name ${quoted} too, so that the response has the members that its schema requires; without them, the service shows the others.`,
      schema: {
        type: 'array',
        minItems: required.length,
        maxItems: this.names.length,
        items: { type: 'string', enum: this.names },
        contains: { enum: required },
        minContains: required.length,
      },
      style: 'form',
      explode: false,
      example: [...required, 'version'],
    };
  }

  /** @param query a valid query */
  read(query: Query): FieldSelection<Fields> {
    const { resource } = this;
    const requestedNames = query.get('fields')?.split(',');
    if (!requestedNames) return this.defaultSelection;
    const shown = this.names.filter((name) => requestedNames.includes(name));
    return {
      name: shown.join(','),
      toJson: (record) => {
        const all = Object.entries({ ...resource.present(record), ...metadata(record) });
        return JSON.stringify(Object.fromEntries(all.filter(([name]) => shown.includes(name))));
      },
    };
  }
}
