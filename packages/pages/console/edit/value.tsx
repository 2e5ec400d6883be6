import type { JSX } from 'preact';
import { isPrice, priceText } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { Json } from './json.js';

const { form } = TEXTS;

interface ValueProps {
  /** Undefined is no value. */
  readonly value: Json | undefined;
  /** Whether a text must be told from a number that looks alike. */
  readonly hasType?: boolean;
  /** What no value means. */
  readonly none?: string | undefined;
}

/** A value to read. */
export function Value({ value, hasType = false, none }: ValueProps): JSX.Element {
  if (value === undefined || value === null) return <em class="value">{none ?? form.noValue}</em>;
  if (value === '') return <em class="value">{form.emptyValue}</em>;
  if (isPrice(value)) return <span class="value">{priceText(value)}</span>;
  if (Array.isArray(value))
    return (
      <ol class="value">
        {value.map((one: Json, at) => (
          <li key={at}>
            <Value value={one} />
          </li>
        ))}
      </ol>
    );
  if (typeof value === 'object')
    return (
      <dl class="value">
        {Object.entries(value).map(([name, one]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value value={one} />
            </dd>
          </div>
        ))}
      </dl>
    );
  const text = typeof value === 'boolean' ? form.booleans[`${value}`] : String(value);
  return (
    <span class="value">
      {text}
      {hasType && <em> ({form.types[typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean')]})</em>}
    </span>
  );
}
