import type { JSX } from 'preact';
import { useConsole } from '../context.js';
import { isPrice, numberText, priceText, timeText } from '../formats.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Field } from '../types.js';

const { columns: texts } = TEXTS;
const MAX_PARTS = 3;

interface ValueProps {
  readonly field: Field;
  readonly value: unknown;
  /** Whether to show all members of a long value. */
  readonly isWhole?: boolean;
}

/** A value of a record, by its schema. Every text is a text node, so data is never markup. */
export function Value({ field, value, isWhole = false }: ValueProps): JSX.Element {
  const { resources } = useConsole();
  if (value === undefined || value === null) return <span class="none">{texts.none}</span>;
  if (typeof value === 'string') {
    if (field.schema.format === 'date-time') return <Time name={field.name} instant={value} />;
    return <span class="text">{value}</span>;
  }
  if (typeof value === 'number') {
    const target = resources.find(({ singular }) => `${singular}Id` === field.name);
    if (!target) return <>{field.name === 'id' ? value : numberText(value)}</>;
    return <a href={hashOf({ page: 'record', resource: target.name, id: value })}>{value}</a>;
  }
  // Attributes could have the same names.
  if (field.schema.properties && isPrice(value)) return <>{priceText(value)}</>;
  const parts = partsOf(value);
  const shown = isWhole ? parts : parts.slice(0, MAX_PARTS);
  return (
    <ul class="parts">
      {shown.map((part) => (
        <li key={part}>{part}</li>
      ))}
      {parts.length > shown.length && <li class="more">{texts.more(parts.length - shown.length)}</li>}
    </ul>
  );
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
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name} ${textOf(member)}`)
    .join(', ');
}
