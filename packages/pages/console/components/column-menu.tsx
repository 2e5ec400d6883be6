import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../context.js';
import { labelOf } from '../formats.js';
import { prefer, preferred } from '../preferences.js';
import { TEXTS } from '../texts.js';
import type { Field, Resource } from '../types.js';
import { Button } from './button.js';
import { Check } from './field.js';
import { Menu } from './menu.js';

const { columns: texts } = TEXTS;

/** The columns of a list until the person chooses others, in their order. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  products: ['images', 'name', 'sku', 'price', 'stock', 'status', 'tags'],
};
const LONG = 1_000;

/** The chosen fields as columns, or where nobody chose those of {@link FIRST}, or those that are short. */
export function columnsOf({ name, fields }: Resource, chosen = FIRST[name]): readonly Field[] {
  const first = FIRST[name] ?? [];
  const rank = (field: Field) => (first.includes(field.name) ? first.indexOf(field.name) : first.length);
  return fields
    .filter((field) => chosen?.includes(field.name) ?? isShort(field))
    .sort((one, other) => rank(one) - rank(other));
}

/** Not long texts that may be absent, metadata and what variants share. */
function isShort({ isMetadata, isRequired, schema, meaning }: Field): boolean {
  return !isMetadata && meaning !== 'variants' && (isRequired || (schema.maxLength ?? 0) < LONG);
}

/** The columns that the person chose for a resource, and a function that chooses others; undefined resets them. */
export function useColumns(resource: Resource): [readonly Field[], (names: readonly string[] | undefined) => void] {
  const preference = `columns.${resource.name}`;
  const [chosen, setChosen] = useState(() => preferred(preference)?.split(','));
  const choose = (names: readonly string[] | undefined) => {
    prefer(preference, names?.join(','));
    setChosen(names && [...names]);
  };
  return [columnsOf(resource, chosen), choose];
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
          <Check key={field.name} isChecked={columns.includes(field)} onCheck={() => toggle(field.name)}>
            {labelOf(field.name)}
          </Check>
        ))}
      </fieldset>
      {resource.fields.some(({ meaning }) => meaning === 'pictures') && (
        <p>
          <Check isChecked={hasPictures} onCheck={showPictures}>
            {texts.pictures}
          </Check>
        </p>
      )}
      <Button kind="link" onClick={() => chooseColumns(undefined)}>
        {texts.reset}
      </Button>
    </Menu>
  );
}
