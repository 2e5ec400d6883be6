import { metadata } from '../../../../application/records/record-format.js';
import { responseJson, StoredRecord } from '../../../../application/records/record-json.js';
import { variantFields } from '../../../../domain/fields.js';
import type { Versioned } from '../../../../domain/record.js';
import type { Parameter, ParameterDocs, Query } from '../core/parameter.js';
import { presentFields, type ResourceDefinition } from '../core/resource-definition.js';
import { nameListIssues } from './query.js';

/** The fields of a record that a response shows. */
export interface FieldSelection<Fields> {
  /** Identifies the view: its fields, in the order of presentation. Absent for the default view. */
  readonly name?: string;
  /** Returns the JSON text of a record. */
  readonly toJson: (record: Versioned<Fields>) => string;
}

export type FieldsParameter = Parameter & { readonly docs: ParameterDocs };

/** What a list with `distinct` shows of a record besides its fields. */
export const VARIANTS = 'variants';

const METADATA: readonly string[] = ['version', 'createdAt', 'updatedAt'];

/** The fields without which nobody could apply a change. */
const CHANGE_FIELDS: readonly string[] = ['id', 'version'];

/** The parameter `fields`, such as `fields=id,name,version`. A response shows only these fields. */
export class FieldSelector<Fields> {
  readonly parameter: FieldsParameter;
  private readonly names: readonly string[];
  private readonly defaultSelection: FieldSelection<Fields>;

  constructor(
    private readonly resource: ResourceDefinition<Fields>,
    private readonly shownOn: 'item' | 'list' | 'change',
  ) {
    const { table, readOnlyFields = {}, itemFields = [] } = resource;
    const resourceFields = [...Object.keys(table), ...Object.keys(readOnlyFields)].filter(
      (name) => !METADATA.includes(name) && (shownOn === 'item' || !itemFields.includes(name)),
    );
    const hasVariants = shownOn === 'list' && variantFields(resource.fields).length > 0;
    this.names = ['id', ...resourceFields, ...METADATA, ...(hasVariants ? [VARIANTS] : [])];
    const toJson = (record: Versioned<Fields>) => responseJson(resource.present, record);
    this.defaultSelection = {
      toJson: shownOn === 'change' ? (record) => withVersion(toJson(record), record) : toJson,
    };
    this.parameter = {
      name: 'fields',
      isList: true,
      issues: (text) => nameListIssues('fields', text.split(','), this.names),
      docs: this.docs(shownOn === 'change' ? CHANGE_FIELDS : presentFields(resource)),
    };
  }

  /**
   * The document demands more than the service: see docs/explanation/internals.md.
   * @param required the fields without which a response breaks its schema
   */
  private docs(required: readonly string[]): ParameterDocs {
    const isChange = this.shownOn === 'change';
    const count = required.length;
    const names = required.map((name) => `\`${name}\``).join(', ');
    const shown = isChange ? `besides ${names}` : `among them ${names}: the schema requires them`;
    const needs = this.names.includes(VARIANTS) ? ` \`${VARIANTS}\` needs \`distinct\`.` : '';
    return {
      description: `The fields to show, ${shown}.${needs}`,
      schema: {
        type: 'array',
        minItems: isChange ? 1 : count,
        maxItems: this.names.length,
        items: { type: 'string', enum: this.names },
        ...(!isChange && { contains: { enum: required }, minContains: count }),
      },
      example: isChange ? required : [...required, 'version'],
    };
  }

  /** @param query a valid query */
  read(query: Query): FieldSelection<Fields> {
    const { resource } = this;
    const requestedNames = query.get('fields')?.split(',');
    if (!requestedNames) return this.defaultSelection;
    const always = this.shownOn === 'change' ? CHANGE_FIELDS : [];
    const shown = this.names.filter((name) => requestedNames.includes(name) || always.includes(name));
    return {
      name: shown.join(','),
      toJson: (record) => {
        const all = Object.entries({ ...resource.present(StoredRecord.once(record)), ...metadata(record) });
        return JSON.stringify(Object.fromEntries(all.filter(([name]) => shown.includes(name))));
      },
    };
  }
}

/** @param json an object that is not empty */
function withVersion(json: string, { version }: Versioned<unknown>): string {
  return `${json.slice(0, -1)},"version":${version}}`;
}
