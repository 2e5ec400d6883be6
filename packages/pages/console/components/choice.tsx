import type { JSX } from 'preact';
import { Field } from './field.js';

interface ChoiceProps<One extends string> {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: One;
  /** Each value with its words. */
  readonly options: readonly (readonly [value: One, words: string])[];
  onChoose(value: One): void;
}

/** One of a few values. */
export function Choice<One extends string>({ value, options, onChoose, ...field }: ChoiceProps<One>): JSX.Element {
  return (
    <Field {...field}>
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value as One)}>
          {options.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
