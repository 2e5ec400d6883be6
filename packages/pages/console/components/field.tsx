import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

/** What the control gets, so that its label, its hint and its error belong to it. */
export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: 'true';
  readonly required?: boolean;
  readonly autocomplete: 'off';
}

interface FieldProps {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: ComponentChildren;
  readonly isRequired?: boolean;
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean | undefined;
  children(control: ControlProps): ComponentChildren;
}

/** A labelled control with its hint and its error. */
export function Field({ label, hint, error, isRequired, isLabelHidden, children }: FieldProps): JSX.Element {
  const id = useId();
  const notes = [...(error ? [`${id}-error`] : []), ...(hint ? [`${id}-hint`] : [])].join(' ');
  const control: ControlProps = {
    id,
    autocomplete: 'off',
    ...(notes !== '' && { 'aria-describedby': notes }),
    ...(error && { 'aria-invalid': 'true' as const }),
    ...(isRequired && { required: true }),
  };
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'hidden' : ''}>
        {label}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      {children(control)}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface InputProps extends Partial<ControlProps> {
  readonly type?: 'text' | 'url' | 'search' | 'datetime-local';
  readonly value: string;
  readonly inputMode?: 'decimal' | 'text';
  readonly list?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly spellcheck?: boolean;
  readonly step?: string;
  readonly size?: number;
  readonly maxLength?: number;
  onType(text: string): void;
}

export function Input({ onType, ...rest }: InputProps): JSX.Element {
  return <input {...rest} onInput={({ currentTarget }) => onType(currentTarget.value)} />;
}

interface TextFieldProps extends Omit<InputProps, keyof ControlProps>, Omit<FieldProps, 'isRequired' | 'children'> {}

/** A labelled {@link Input}. */
export function TextField({ label, hint, error, isLabelHidden, ...input }: TextFieldProps): JSX.Element {
  return <Field {...{ label, hint, error, isLabelHidden }}>{(control) => <Input {...control} {...input} />}</Field>;
}

interface SelectProps extends Partial<ControlProps> {
  readonly class?: string;
  readonly value: string | number;
  /** Values with their labels. */
  readonly options: readonly (readonly [value: string, label: string])[];
  onChoose(value: string): void;
}

/** One of a few values. */
export function Select({ options, onChoose, ...rest }: SelectProps): JSX.Element {
  return (
    <select {...rest} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

interface ChoiceProps<One extends string> extends Pick<FieldProps, 'label' | 'isLabelHidden'> {
  readonly value: One;
  /** Each value with its words. */
  readonly options: readonly (readonly [value: One, words: string])[];
  onChoose(value: One): void;
}

/** A labelled {@link Select}. */
export function Choice<One extends string>({ label, isLabelHidden, onChoose, ...rest }: ChoiceProps<One>): JSX.Element {
  return (
    <Field {...{ label, isLabelHidden }}>
      {(control) => <Select {...control} {...rest} onChoose={(one) => onChoose(one as One)} />}
    </Field>
  );
}

interface CheckProps {
  readonly isChecked: boolean;
  readonly children: ComponentChildren;
  onCheck(isChecked: boolean): void;
}

/** A box that is checked or not, and what it is for. */
export function Check({ isChecked, children, onCheck }: CheckProps): JSX.Element {
  return (
    <label>
      <input type="checkbox" checked={isChecked} onChange={({ currentTarget }) => onCheck(currentTarget.checked)} />{' '}
      {children}
    </label>
  );
}

interface RadiosProps<One extends string | undefined> {
  readonly legend: string;
  readonly chosen: One;
  readonly options: readonly (readonly [value: One, label: string, hint?: string | undefined])[];
  onChoose(value: One): void;
}

/** One of a few values, each with what it means. */
export function Radios<One extends string | undefined>(props: RadiosProps<One>): JSX.Element {
  const { legend, chosen, options, onChoose } = props;
  const id = useId();
  return (
    <fieldset class="choices">
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

/** @returns a function that gives the focus to what a selector finds in an element after the next change */
export function useNextFocus(root: RefObject<HTMLElement | null>): (selector: string) => void {
  const next = useRef('');
  useLayoutEffect(() => {
    if (next.current) root.current?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = '';
  });
  return (selector) => {
    next.current = selector;
  };
}
