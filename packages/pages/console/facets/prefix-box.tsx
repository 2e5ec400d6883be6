import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Field } from '../components/field.js';

/** The pause after a key, so that a word is one request. */
export const PAUSE_MS = 250;

interface PrefixBoxProps {
  readonly label: string;
  readonly placeholder: string;
  /** Called when the person pauses. */
  onSettle(prefix: string): void;
}

/** What values begin with. */
export function PrefixBox({ label, placeholder, onSettle }: PrefixBoxProps): JSX.Element {
  const [text, setText] = useState<string>();
  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(() => onSettle(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Field label={label} isLabelHidden>
      {(control) => (
        <input
          {...control}
          type="search"
          placeholder={placeholder}
          spellcheck={false}
          value={text ?? ''}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      )}
    </Field>
  );
}
