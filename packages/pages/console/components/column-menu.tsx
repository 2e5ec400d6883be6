import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../context.js';
import { labelOf } from '../formats.js';
import { prefer, preferred } from '../preferences.js';
import { TEXTS } from '../texts.js';
import type { Field, Resource } from '../types.js';
import { Button } from './button.js';
import { Menu } from './menu.js';

const { columns: texts } = TEXTS;

/** Long texts that may be absent, metadata and what variants share are hidden until the person chooses them. */
const LONG = 1_000;

/** Whether a field is a column until the person chooses others. */
export function isShownAtFirst({ isMetadata, isRequired, schema, meaning }: Field): boolean {
  return !isMetadata && meaning !== 'variants' && (isRequired || (schema.maxLength ?? 0) < LONG);
}

/** Some fields as columns: pictures come first, by which a person finds a record. */
export function columnsOf({ fields }: Resource, isShown: (field: Field) => boolean): readonly Field[] {
  const isLater = ({ meaning }: Field) => Number(meaning !== 'pictures');
  return fields.filter(isShown).sort((one, other) => isLater(one) - isLater(other));
}

/** The columns that the person chose for a resource, and a function that chooses others; undefined resets them. */
export function useColumns(resource: Resource): [readonly Field[], (names: readonly string[] | undefined) => void] {
  const name = `columns.${resource.name}`;
  const [chosen, setChosen] = useState(() => preferred(name)?.split(','));
  const isShown = (field: Field) => (chosen ? chosen.includes(field.name) : isShownAtFirst(field));
  const choose = (names: readonly string[] | undefined) => {
    prefer(name, names?.join(','));
    setChosen(names && [...names]);
  };
  return [columnsOf(resource, isShown), choose];
}

interface ColumnMenuProps {
  readonly resource: Resource;
  readonly columns: readonly Field[];
  chooseColumns(names: readonly string[] | undefined): void;
}

/** A menu of the fields to show as columns. The last one cannot be removed. */
export function ColumnMenu({ resource, columns, chooseColumns }: ColumnMenuProps): JSX.Element {
  const { hasPictures, showPictures } = useConsole();
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
      {resource.fields.some(({ meaning }) => meaning === 'pictures') && (
        <p>
          <label>
            <input
              type="checkbox"
              checked={hasPictures}
              onChange={({ currentTarget }) => showPictures(currentTarget.checked)}
            />{' '}
            {texts.pictures}
          </label>
        </p>
      )}
      <Button kind="link" onClick={() => chooseColumns(undefined)}>
        {texts.reset}
      </Button>
    </Menu>
  );
}
