import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

/** What the control gets, so that its label, its hint and its error belong to it. */
export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: 'true';
  readonly required?: boolean;
  readonly autocomplete: 'off';
}

export interface FieldProps {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: ComponentChildren;
  readonly isRequired?: boolean;
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean;
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
