import type { JSX } from 'preact';
import { useConsole } from '../context.js';
import { pathOf, wordsOf } from '../field-words.js';
import { isPrice, labelOf, numberText, priceText, timeText, typedText } from '../formats.js';
import { ALL_RECORDS, filtersWith, type ListState, queryOf } from '../list-query.js';
import { referredBy } from '../resources.js';
import { hashOf, hashOfList } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Field, Resource } from '../types.js';
import { Pictures, WebAddress } from './pictures.js';

const { columns: texts, form } = TEXTS;
/** The most parts of a value in a list: its rows have two lines. */
const MAX_PARTS = 2;

/** The address of the records that have a text among those of a field; undefined if there is none. */
export type HrefOf = (field: Pick<Field, 'name'>, text: string) => string | undefined;

/** Links from a text of a list to the records that have it too, among those that a state shows. */
export function textLinks(resource: Resource, state: ListState = ALL_RECORDS): HrefOf {
  return ({ name }, text) => {
    const operators = resource.filters.find((one) => one.name === name)?.operators ?? [];
    if (!operators.some((operator) => operator.name === 'all')) return undefined;
    const filters = filtersWith(state.filters, name, text);
    return hashOfList(resource.name, queryOf({ ...state, filters, cursor: undefined }));
  };
}

/** A field of a record or of a form; what is nothing but a value has none. */
interface ValueField extends Pick<Field, 'name'>, Partial<Pick<Field, 'schema' | 'meaning'>> {
  readonly kind?: string;
  /** Those that a form offers. */
  readonly values?: readonly string[];
}

interface ValueProps {
  readonly field?: ValueField | undefined;
  readonly value: unknown;
  /** Whether to show all members of a long value, and to name what is none. */
  readonly isWhole?: boolean;
  /** Whether a text must be told from a number that looks alike. */
  readonly hasType?: boolean;
  readonly hrefOf?: HrefOf | undefined;
}

/** A value of a record, by its field. Every text is a text node, so data is never markup. */
export function Value({ field = NO_FIELD, value, isWhole = false, hasType, hrefOf }: ValueProps): JSX.Element {
  const { api, resources } = useConsole();
  const { name, schema, meaning, kind, values = schema?.enum } = field;
  const isChoice = schema?.enum !== undefined || kind === 'choice';
  const types = { ...form.types, string: form.types.text };
  const type = hasType && <em> ({types[typeof value as keyof typeof types]})</em>;
  if (value === undefined || value === null) {
    const none = wordsOf(name)?.none;
    if (isChoice && none) return <span class={`badge ${none}`}>{labelOf(none)}</span>;
    return <span class="none">{none ?? (isWhole ? form.noValue : texts.none)}</span>;
  }
  if (typeof value === 'string') {
    if (meaning === 'link') return <WebAddress url={value} />;
    if (isChoice)
      return <span class={values?.includes(value) ? `badge ${value}` : 'badge'}>{textOf(value, true)}</span>;
    if (schema?.format === 'date-time') return <Time name={name} instant={value} />;
    return (
      <span class={value === '' ? 'none' : 'text'}>
        {textOf(value)}
        {type}
      </span>
    );
  }
  if (typeof value === 'number') {
    const target = referredBy(name, resources);
    if (target && api.mayRead(target))
      return <a href={hashOf({ page: 'record', resource: target.name, id: value })}>{value}</a>;
    return (
      <span>
        {name === 'id' ? value : numberText(value)}
        {type}
      </span>
    );
  }
  // Attributes could have the same names.
  if ((schema?.properties || kind === 'price') && isPrice(value)) return <span>{priceText(value)}</span>;
  if (meaning === 'pictures' && Array.isArray(value)) return <Pictures value={isWhole ? value : value.slice(0, 1)} />;
  const parts = partsOf(name, value);
  const shown = isWhole ? parts : parts.slice(0, MAX_PARTS);
  const areTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return (
    <ul class={areTexts ? 'chips' : 'parts'}>
      {shown.map((part, at) => {
        const href = areTexts ? hrefOf?.(field, part) : undefined;
        const isLast = at === shown.length - 1 && parts.length > shown.length;
        return (
          <li key={part} title={isWhole ? undefined : part}>
            <span class={areTexts ? 'chip' : ''}>
              <Linked href={href}>{part}</Linked>
              {!Array.isArray(value) && type}
            </span>
            {isLast && (
              <span class="more" title={parts.slice(shown.length).join('\n')}>
                {texts.more(parts.length - shown.length)}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

const NO_FIELD: ValueField = { name: '' };

interface DetailsProps {
  readonly record: Readonly<Record<string, unknown>>;
  readonly fields: readonly Field[];
  readonly hrefOf?: HrefOf;
}

/** The values of a record with their labels, without those that are absent and mean nothing by that. */
export function Details({ record, fields, hrefOf }: DetailsProps): JSX.Element {
  return (
    <dl class="details">
      {fields
        .filter(({ name }) => record[name] !== undefined || wordsOf(name)?.none)
        .map((field) => (
          <div key={field.name}>
            <dt>{labelOf(field.name)}</dt>
            <dd>
              <Value field={field} value={record[field.name]} hrefOf={hrefOf} isWhole />
            </dd>
          </div>
        ))}
    </dl>
  );
}

interface LinkedProps {
  readonly href: string | undefined;
  readonly children: string;
}

/** A text, which is a link if it leads somewhere. */
export function Linked({ href, children }: LinkedProps): JSX.Element {
  return href === undefined ? <span>{children}</span> : <a href={href}>{children}</a>;
}

function Time({ name, instant }: { readonly name: string; readonly instant: string }): JSX.Element {
  const isExpired = name === 'expiresAt' && Date.parse(instant) <= Date.now();
  return (
    <time dateTime={instant} title={instant}>
      {timeText(instant)} {isExpired && <span class="badge failing">{TEXTS.keys.expired}</span>}
    </time>
  );
}

/** The elements of a list, or the members of an object, as short texts. */
function partsOf(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.map((one) => textOf(one, false, name));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(
      ([member, one]) => `${labelIn(name, member)}: ${textOf(one, false, pathOf(name, member))}`,
    );
  return [textOf(value)];
}

/**
 * What a value is called for people.
 * @param isChoice whether it is one of a few, which have words
 * @param name of the field that has it
 */
export function textOf(value: unknown, isChoice = false, name = ''): string {
  if (value === '') return form.emptyValue;
  if (typeof value === 'boolean') return form.booleans[`${value}`];
  // Without groups of digits, because it may be a year or an ID.
  if (typeof value === 'number') return typedText(value);
  if (typeof value !== 'object' || value === null) return isChoice ? labelOf(String(value)) : String(value);
  if (isPrice(value)) return priceText(value);
  return Object.entries(value)
    .map(([member, one]) => `${labelIn(name, member)} ${textOf(one, false, pathOf(name, member))}`)
    .join(', ');
}

/** What a member of a field is called, or of a whole record, which has no name. */
function labelIn(name: string, member: string): string {
  return name === '' ? labelOf(member) : (wordsOf(`${name}.${member}`)?.label ?? member);
}
