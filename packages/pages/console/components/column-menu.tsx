import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Choice } from '../components/field.js';
import { useConsole } from '../context.js';
import { labelOf } from '../formats.js';
import type { ListState } from '../list-query.js';
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

interface ViewMenuProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly columns: readonly Field[];
  chooseColumns(names: readonly string[] | undefined): void;
  go(part: Partial<ListState>): void;
}

/** How a list is shown: its order, one row for all variants, and its columns, of which the last one cannot be removed. */
export function ViewMenu({ resource, state, columns, chooseColumns, go }: ViewMenuProps): JSX.Element {
  const { hasPictures, showPictures } = useConsole();
  const { distinct, fields } = resource;
  const toggle = (name: string) => {
    const shown = columns.map((field) => field.name);
    const next = shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name];
    if (next.length > 0) chooseColumns(next);
  };
  const orders = (sign: '' | '-') =>
    fields.flatMap(({ name, sort }): [string, string][] =>
      sort === undefined ? [] : [[`${sign}${sort}`, texts.sortBy(labelOf(name), sign === '-')]],
    );
  return (
    <Menu label={texts.button}>
      <Choice
        label={texts.sort}
        value={state.sort}
        options={[['', texts.unsorted], ...orders(''), ...orders('-')]}
        onChoose={(sort) => go({ sort })}
      />
      <div class="checks">
        {distinct && (
          <Check
            isChecked={state.distinct !== undefined}
            onCheck={(isOn) => go({ distinct: isOn ? distinct.by : undefined })}
          >
            {texts.distinct}
          </Check>
        )}
        {fields.some(({ meaning }) => meaning === 'pictures') && (
          <Check isChecked={hasPictures} onCheck={showPictures}>
            {texts.pictures}
          </Check>
        )}
      </div>
      <fieldset class="checks">
        <legend>{texts.title}</legend>
        {fields.map((field) => (
          <Check key={field.name} isChecked={columns.includes(field)} onCheck={() => toggle(field.name)}>
            {labelOf(field.name)}
          </Check>
        ))}
      </fieldset>
      <Button kind="link" onClick={() => chooseColumns(undefined)}>
        {texts.reset}
      </Button>
    </Menu>
  );
}
