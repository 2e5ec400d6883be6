import { CatalogueError, type ErrorDetail, UnknownOutcomeError } from '#packages/client/index.js';
import type { Schema } from '../docs/openapi.js';
import type { References } from '../docs/references.js';
import { stepsOf } from './edit/json.js';
import { pathAt, wordsOf } from './field-words.js';
import { TEXTS } from './texts.js';
import type { ErrorText, Resource } from './types.js';

const { errors } = TEXTS;
const BY_STATUS: Readonly<Record<number, ErrorText>> = {
  401: errors.unauthenticated,
  404: errors.notFound,
  412: errors.conflict,
  503: errors.unavailable,
};

/** A version that the service refuses although the record is as it was read. */
export class AlteredTagError extends Error {}

/** What the service said of an error; undefined for any other one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof CatalogueError ? error.code : undefined;
}

/** Whether the browser refuses to read a file, because it is another than the one that was chosen. */
export function hasFileChanged(error: unknown): boolean {
  return error instanceof DOMException && /^Not(Readable|Found)Error$/.test(error.name);
}

/** An error of the client, in words for a person. */
export function describeError(error: unknown): ErrorText {
  if (error instanceof UnknownOutcomeError) return errors.unknownOutcome;
  if (error instanceof AlteredTagError) return errors.alteredTag;
  if (hasFileChanged(error)) return errors.fileChanged;
  if (!(error instanceof CatalogueError)) {
    // Browsers tell nothing about a lost connection but this type. A program error has another message.
    if (error instanceof TypeError && /fetch|network|load|connection/i.test(error.message)) return errors.lost;
    const { title, text } = errors.program;
    return { title, text: `${text} (${error instanceof Error ? error.message : String(error)})` };
  }
  const { status, code, requestId } = error;
  if (code === 'unexpected_response') return errors.unexpected;
  if (code === 'last_admin_key') return errors.lastAdmin;
  const { forbidden, rateLimited } = errors;
  const [scope = ''] = /\b[a-z-]+:[a-z]+\b/.exec(error.message) ?? [];
  if (code === 'insufficient_scope') return { ...forbidden, text: forbidden.text(scope) };
  if (status === 429) return { ...rateLimited, text: rateLimited.text(error.retryAfterSeconds) };
  const found = BY_STATUS[status] ?? (status >= 500 ? errors.internal : refusal(error));
  return requestId === undefined || status < 500
    ? found
    : { ...found, text: `${found.text} ${errors.requestId(requestId)}` };
}

/** What is wrong with a value that the service refused: the part of the rule that it breaks. */
export function brokenRule(detail: ErrorDetail, resource: Resource, references: References): string {
  const { code, message } = detail;
  const pointer = 'pointer' in detail ? (detail.pointer ?? '') : '';
  const { broken } = TEXTS.form;
  // The words of the service begin with the path of the field.
  const own = sentence(message.replace(`${stepsOf(pointer).join('.')} must`, 'This must'));
  if (/ must have a key /.test(message)) return code === 'too_short' ? broken.noKey : broken.key;
  const { type, description = '', maxLength, maxItems, minimum, maximum } = schemaAt(pointer, resource, references);
  const words = wordsOf(pathAt(pointer), resource.name);
  const isItsRule = description.endsWith(message.replace(/^.*? must be /s, ''));
  switch (code) {
    case 'required':
      return broken.required;
    case 'too_short':
      return type === 'array' ? broken.noEntry : broken.required;
    case 'too_long': {
      const most = maxLength ?? maxItems;
      return most === undefined ? own : type === 'array' ? broken.entries(most) : broken.characters(most);
    }
    case 'out_of_range':
      return minimum === undefined || maximum === undefined ? own : broken.range(minimum, maximum);
    case 'duplicate_value':
      return 'id' in detail ? broken.taken(resource.singular) : broken.repeated;
    case 'reference_not_found':
      return broken.gone;
    case 'invalid_format':
      // Behind its rule the service says what a typing error or a spreadsheet did.
      return /\w\. ([A-Z].*)$/.exec(message)?.[1] ?? (isItsRule ? words?.form : undefined) ?? own;
    default:
      return own;
  }
}

/** The schema of the value at a JSON Pointer. Of an attribute, that of texts. */
function schemaAt(pointer: string, { input }: Resource, references: References): Schema {
  return stepsOf(pointer).reduce<Schema>((schema, step) => {
    const { properties, items, patternProperties } = schema;
    const inner = references.schema(properties?.[step] ?? items ?? patternProperties?.['^']);
    return references.schema(inner.anyOf?.[0] ?? inner);
  }, input ?? {});
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, '.');
}

/** What the service says about a request that it refused. */
function refusal({ message, code, details }: CatalogueError): ErrorText {
  const text = details.map((detail) => sentence(detail.message)).join(' ') || message.replace(`${code}: `, '');
  return { title: errors.refused, text };
}
