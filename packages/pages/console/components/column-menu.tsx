import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { labelOf } from '../formats.js';
import { prefer, preferred } from '../preferences.js';
import { TEXTS } from '../texts.js';
import type { Field, Resource } from '../types.js';
import { Button } from './button.js';
import { Menu } from './menu.js';

const { columns: texts } = TEXTS;

/** Long texts and metadata are hidden until the person chooses them. */
const LONG = 1_000;

/** Whether a field is a column until the person chooses others. */
export function isShownAtFirst({ isMetadata, schema }: Field): boolean {
  return !isMetadata && (schema.maxLength ?? 0) < LONG;
}

/** The columns that the person chose for a resource, and a function that chooses others; undefined resets them. */
export function useColumns(
  resource: Resource,
): [readonly Field[], (names: readonly string[] | undefined) => void] {
  const name = `columns.${resource.name}`;
  const [chosen, setChosen] = useState(() => preferred(name)?.split(','));
  const isShown = (field: Field) => (chosen ? chosen.includes(field.name) : isShownAtFirst(field));
  const choose = (names: readonly string[] | undefined) => {
    prefer(name, names?.join(','));
    setChosen(names && [...names]);
  };
  return [resource.fields.filter(isShown), choose];
}

interface ColumnMenuProps {
  readonly resource: Resource;
  readonly columns: readonly Field[];
  chooseColumns(names: readonly string[] | undefined): void;
}

/** A menu of the fields to show as columns. The last one cannot be removed. */
export function ColumnMenu({ resource, columns, chooseColumns }: ColumnMenuProps): JSX.Element {
  const toggle = (name: string) => {
    const shown = columns.map((field) => field.name);
    const next = shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name];
    if (next.length > 0) chooseColumns(next);
  };
  return (
    <Menu label={texts.button}>
      <fieldset class="checks">
        <legend>{texts.title}</legend>
        {resource.fields.map((field) => (
          <label key={field.name}>
            <input type="checkbox" checked={columns.includes(field)} onChange={() => toggle(field.name)} />{' '}
            {labelOf(field.name)}
          </label>
        ))}
      </fieldset>
      <Button kind="link" onClick={() => chooseColumns(undefined)}>
        {texts.reset}
      </Button>
    </Menu>
  );
}
