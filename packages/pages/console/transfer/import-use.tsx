import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { useConsole } from '../context.js';
import { labelOf } from '../formats.js';
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
  const { importing: texts } = useConsole().texts;
  const { importMatches } = resource;
  if (importMatches.length === 0) return null;
  const unique = uniqueKey(resource);
  // An ID that nobody has is refused, so nothing would be left to do.
  const ways = EXISTING.filter((way) => way !== 'skip' || use.match !== 'id');
  return (
    <div class="uses">
      <Choices legend={texts.use} isDisabled={isDisabled}>
        {[undefined, ...importMatches].map((match) => (
          <Choice
            key={match}
            name="match"
            label={match === undefined ? texts.add : texts.update(keyName(match))}
            hint={
              match === undefined
                ? unique && texts.addHint(keyName(unique))
                : texts.updateHint(keyName(match), match === 'id')
            }
            isChosen={use.match === match}
            onChoose={() => onChoose({ match, existing: 'merge' })}
          />
        ))}
      </Choices>
      {use.match !== undefined && (
        <Choices legend={texts.existing} isDisabled={isDisabled}>
          {ways.map((existing) => (
            <Choice
              key={existing}
              name="existing"
              label={texts.ways[existing]}
              hint={texts.wayHints[existing](isCsv)}
              isChosen={use.existing === existing}
              onChoose={() => onChoose({ ...use, existing })}
            />
          ))}
        </Choices>
      )}
    </div>
  );
}

interface ChoicesProps {
  readonly legend: string;
  readonly isDisabled: boolean;
  readonly children: ComponentChildren;
}

function Choices({ legend, isDisabled, children }: ChoicesProps): JSX.Element {
  return (
    <fieldset class="choices" disabled={isDisabled}>
      <legend>{legend}</legend>
      {children}
    </fieldset>
  );
}

interface ChoiceProps {
  /** Of the group. */
  readonly name: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly isChosen: boolean;
  onChoose(): void;
}

function Choice({ name, label, hint, isChosen, onChoose }: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div>
      <label class="check">
        <input type="radio" name={name} aria-describedby={hint && id} checked={isChosen} onChange={onChoose} /> {label}
      </label>
      {hint && (
        <p class="hint" id={id}>
          {hint}
        </p>
      )}
    </div>
  );
}
