import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { TextField } from '../components/field.js';
import { TEXTS } from '../texts.js';
import { useSettled } from '../use-settled.js';

interface PrefixBoxProps {
  /** Whose values are looked for. */
  readonly label: string;
  /** Called when the person pauses. */
  onSettle(prefix: string): void;
}

/** What values begin with. */
export function PrefixBox({ label, onSettle }: PrefixBoxProps): JSX.Element {
  const [text, setText] = useState('');
  const settled = useSettled(text);
  useEffect(() => onSettle(settled), [settled]);
  return (
    <TextField
      label={TEXTS.facets.prefixOf(label)}
      isLabelHidden
      type="search"
      placeholder={TEXTS.facets.prefix}
      spellcheck={false}
      value={text}
      onType={setText}
    />
  );
}
