import type { JSX } from 'preact';
import { useConsole } from '../context.js';
import { wordsOf } from '../field-words.js';
import { isPrice, labelOf, numberText, priceText, timeText } from '../formats.js';
import { referredBy } from '../resources.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Field } from '../types.js';
import { Pictures, WebAddress } from './pictures.js';

const { columns: texts } = TEXTS;
/** The most parts of a value in a list: its rows have two lines. */
const MAX_PARTS = 2;

/** The address of the records that have a text among those of a field; undefined if there is none. */
export type HrefOf = (field: Pick<Field, 'name'>, text: string) => string | undefined;

interface ValueProps {
  readonly field: Field;
  readonly value: unknown;
  /** Whether to show all members of a long value. */
  readonly isWhole?: boolean;
  readonly hrefOf?: HrefOf | undefined;
}

/** A value of a record, by its schema. Every text is a text node, so data is never markup. */
export function Value({ field, value, isWhole = false, hrefOf }: ValueProps): JSX.Element {
  const { api, resources } = useConsole();
  if (value === undefined || value === null) return <NoValue field={field} />;
  if (typeof value === 'string') {
    if (field.meaning === 'link') return <WebAddress url={value} />;
    if (field.schema.enum) return <span class={`badge ${value}`}>{labelOf(value)}</span>;
    if (field.schema.format === 'date-time') return <Time name={field.name} instant={value} />;
    return <span class="text">{value}</span>;
  }
  if (typeof value === 'number') {
    const target = referredBy(field.name, resources);
    if (!target || !api.mayRead(target)) return <>{field.name === 'id' ? value : numberText(value)}</>;
    return <a href={hashOf({ page: 'record', resource: target.name, id: value })}>{value}</a>;
  }
  // Attributes could have the same names.
  if (field.schema.properties && isPrice(value)) return <>{priceText(value)}</>;
  if (field.meaning === 'pictures' && Array.isArray(value))
    return <Pictures value={isWhole ? value : value.slice(0, 1)} />;
  const parts = partsOf(value);
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

/** A text, which is a link if it leads somewhere. */
export function Linked({
  href,
  children,
}: {
  readonly href: string | undefined;
  readonly children: string;
}): JSX.Element {
  return href === undefined ? <span>{children}</span> : <a href={href}>{children}</a>;
}

/** No value has a name of its own in some fields, such as `live`. */
function NoValue({ field: { name, schema } }: Pick<ValueProps, 'field'>): JSX.Element {
  const none = wordsOf(name)?.none;
  if (schema.enum && none) return <span class={`badge ${none}`}>{labelOf(none)}</span>;
  return <span class="none">{none ?? texts.none}</span>;
}

function Time({ name, instant }: { readonly name: string; readonly instant: string }): JSX.Element {
  const isExpired = name === 'expiresAt' && Date.parse(instant) <= Date.now();
  return (
    <time dateTime={instant} title={instant}>
      {timeText(instant)}
      {isExpired && <span class="tag">{TEXTS.keys.expired}</span>}
    </time>
  );
}

/** The elements of a list, or the members of an object, as short texts. */
function partsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(textOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([name, member]) => `${name}: ${textOf(member)}`);
  return [textOf(value)];
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return TEXTS.form.booleans[`${value}`];
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${labelOf(name.replace(/Id$/, ''))} ${textOf(member)}`)
    .join(', ');
}
