import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ControlProps } from '../components/field.js';
import { useConsole } from '../context.js';
import { wordsOf } from '../field-words.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { useSettled } from '../use-settled.js';

/** The most records that a search offers. */
const MOST = 8;

interface ReferenceProps {
  readonly control: ControlProps;
  readonly pointer: string;
  /** The resource of the record. */
  readonly target: Resource;
  /** The id of the record; empty if none is chosen. */
  readonly value: string;
  onChange(id: string): void;
}

/** Chooses a record by the words that a search finds it by, or by its id. */
export function Reference({ control, pointer, target, value, onChange }: ReferenceProps): JSX.Element {
  const { api } = useConsole();
  const list = useId();
  /** Undefined while the chosen record is shown. */
  const [typed, setTyped] = useState<string>();
  const [at, setAt] = useState(0);
  const words = useSettled(typed ?? '').trim();
  const collection = api.collection(target);
  const read = (id: string, signal: AbortSignal) =>
    collection.read<never>(Number(id), { signal }).then(
      ({ data }): CatalogueRecord[] => [data],
      () => [],
    );
  const chosen = useLoad(value, async (signal) => (value === '' ? [] : read(value, signal)));
  const isOpen = typed !== undefined;
  const search = useLoad(isOpen ? `?${words}` : '', async (signal) => {
    if (!isOpen) return undefined;
    const query = new URLSearchParams({ limit: String(MOST), ...(words !== '' && { q: words }) });
    const [exact, { records }] = await Promise.all([
      /^[1-9]\d{0,15}$/.test(words) ? read(words, signal) : [],
      collection.page(`${target.path}?${query}`, { signal }),
    ]);
    return { words, records: [...exact, ...records.filter(({ id }) => id !== exact[0]?.id)] };
  });
  // What an earlier word found is not offered for this one.
  const isFound = isOpen && search.value?.words === typed.trim();
  const found = isFound ? (search.value?.records ?? []) : [];
  const choose = (record: CatalogueRecord | undefined) => {
    if (record) onChange(String(record.id));
    setTyped(undefined);
  };
  const type = (text: string) => {
    setTyped(text);
    setAt(0);
    if (text === '') onChange('');
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && !isOpen) setTyped('');
    else if (step !== undefined) setAt((at + step + found.length) % Math.max(1, found.length));
    else if (isOpen && event.key === 'Enter') choose(found[at]);
    else if (isOpen && event.key === 'Escape') choose(undefined);
    else return;
    event.preventDefault();
  };
  const name = chosen.value?.[0] ? nameOf(chosen.value[0]) : chosen.isLoading ? '' : TEXTS.form.goneChoice(value);
  return (
    <div class="with-button reference">
      <input
        {...control}
        data-pointer={pointer}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-activedescendant={found[at] && `${list}-${at}`}
        placeholder={TEXTS.form.search(target.title.toLowerCase())}
        spellcheck={false}
        value={typed ?? (value === '' ? '' : name)}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onKeyDown={press}
        onBlur={() => choose(undefined)}
      />
      {value !== '' && !isOpen && (
        <a class="button" href={hashOf({ page: 'record', resource: target.name, id: Number(value) })}>
          {TEXTS.form.open}
        </a>
      )}
      <div id={list} role="listbox" aria-label={target.title} hidden={!isOpen} class="offers">
        {found.map((record, place) => (
          // The list of the input has the keys.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the focus, and its keys choose
          <div
            key={record.id}
            id={`${list}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            onMouseMove={() => setAt(place)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(record)}
          >
            {nameOf(record)} <span class="hint">{marksOf(record)}</span>
          </div>
        ))}
        {found.length === 0 && (
          <div role="option" tabIndex={-1} aria-disabled="true" aria-selected="false" class="hint">
            {isFound || search.error !== undefined ? TEXTS.list.noMatchTitle : TEXTS.list.loading}
          </div>
        )}
      </div>
    </div>
  );
}

function nameOf({ id, name }: CatalogueRecord): string {
  return typeof name === 'string' ? name : String(id);
}

/** What no other record has, such as its SKU. */
function marksOf(record: CatalogueRecord): string {
  const own = Object.entries(record).filter(([name]) => wordsOf(name)?.isOwn);
  return [...own.map(([, value]) => String(value)), `ID ${record.id}`].join(' · ');
}
