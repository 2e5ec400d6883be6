import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { labelOf } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { EXISTING, type ImportUse } from './file-changes.js';
import type { PreviewRecord } from './preview.js';

/** What people mean with a file: it updates by ID if it has one, else by SKU or email if it has that. */
export function likelyUse({ importMatches }: Resource, records: readonly PreviewRecord[]): ImportUse {
  const has = (match: string) => records.some(({ values }) => values?.[match] !== undefined);
  return {
    match: ['id', ...importMatches].find((match) => importMatches.includes(match) && has(match)),
    existing: 'merge',
  };
}

/** The key that new records can have too. */
export function uniqueKey({ importMatches }: Resource): string | undefined {
  return importMatches.find((match) => match !== 'id');
}

/** A key in a sentence: `SKU`, `ID`, `email`. */
export function keyName(match: string): string {
  const label = labelOf(match);
  return label === match.toUpperCase() ? label : label.toLowerCase();
}

interface UseChooserProps {
  readonly resource: Resource;
  readonly use: ImportUse;
  readonly isCsv: boolean;
  readonly isDisabled: boolean;
  onChoose(use: ImportUse): void;
}

/** Whether a file only adds records or updates them, by which key, and how. */
export function UseChooser(props: UseChooserProps): JSX.Element | null {
  const { resource, use, isCsv, isDisabled, onChoose } = props;
  const { importing: texts } = TEXTS;
  const { importMatches } = resource;
  if (importMatches.length === 0) return null;
  const unique = uniqueKey(resource);
  // An ID that nobody has is refused, so nothing would be left to do.
  const ways = EXISTING.filter((way) => way !== 'skip' || use.match !== 'id');
  return (
    <div class="uses">
      <Radios
        legend={texts.use}
        isDisabled={isDisabled}
        chosen={use.match}
        options={[undefined, ...importMatches].map((match) =>
          match === undefined
            ? [match, texts.add, unique && texts.addHint(keyName(unique))]
            : [match, texts.update(keyName(match)), texts.updateHint(keyName(match), match === 'id')],
        )}
        onChoose={(match) => onChoose({ match, existing: 'merge' })}
      />
      {use.match !== undefined && (
        <Radios
          legend={texts.existing}
          isDisabled={isDisabled}
          chosen={use.existing}
          options={ways.map((existing) => [existing, texts.ways[existing], texts.wayHints[existing](isCsv)])}
          onChoose={(existing) => onChoose({ ...use, existing })}
        />
      )}
    </div>
  );
}

interface RadiosProps<One extends string | undefined> {
  readonly legend: string;
  readonly isDisabled: boolean;
  readonly chosen: One;
  readonly options: readonly (readonly [value: One, label: string, hint: string | undefined])[];
  onChoose(value: One): void;
}

function Radios<One extends string | undefined>(props: RadiosProps<One>): JSX.Element {
  const { legend, isDisabled, chosen, options, onChoose } = props;
  const id = useId();
  return (
    <fieldset class="choices" disabled={isDisabled}>
      <legend>{legend}</legend>
      {options.map(([value, label, hint], at) => (
        <div key={value}>
          <label class="check">
            <input
              type="radio"
              name={id}
              aria-describedby={hint && `${id}-${at}`}
              checked={chosen === value}
              onChange={() => onChoose(value)}
            />{' '}
            {label}
          </label>
          {hint && (
            <p class="hint" id={`${id}-${at}`}>
              {hint}
            </p>
          )}
        </div>
      ))}
    </fieldset>
  );
}
