import type { ComponentChildren, JSX } from 'preact';
import { useContext, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import {
  Check,
  Choice,
  Input,
  Field as Labelled,
  type ControlProps as LabelledControl,
  Select,
  TextField,
  useNextFocus,
} from '../components/field.js';
import { Preview } from '../components/pictures.js';
import { Linked, textLinks } from '../components/value.js';
import { useConsole } from '../context.js';
import { pathAt, SECTIONS, wordsOf } from '../field-words.js';
import { labelOf, priceText, typedAmount } from '../formats.js';
import { referredBy } from '../resources.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { CompletedResource, useCompletions, useFrequentValues } from './completions.js';
import {
  type ChipsField,
  type ChipsValue,
  type ChoiceField,
  type Field,
  type FormValue,
  type FormValues,
  type ListField,
  type ListRow,
  type MapRow,
  newListRow,
  newMapRow,
  withTyped,
} from './form-model.js';
import { pointerTo, stepsOf } from './json.js';
import { Reference } from './reference.js';

const { form } = TEXTS;

/** What is wrong, by JSON Pointer. */
export type Messages = ReadonlyMap<string, string>;

interface ControlProps<V extends FormValue, F extends Field = Field> {
  readonly field: F;
  /** The JSON Pointer of the value. */
  readonly pointer: string;
  readonly value: V;
  readonly messages: Messages;
  readonly onChange: (value: V) => void;
}

interface FieldsProps extends Pick<ControlProps<FormValues>, 'pointer' | 'messages' | 'onChange'> {
  readonly fields: readonly Field[];
  readonly values: FormValues;
}

function Fields({ fields, values, pointer, messages, onChange }: FieldsProps): JSX.Element {
  return (
    <>
      {fields.map((field) => (
        <FieldControl
          key={field.name}
          field={field}
          pointer={pointer + pointerTo(field.name)}
          value={values[field.name] ?? null}
          messages={messages}
          onChange={(value) => onChange({ ...values, [field.name]: value })}
        />
      ))}
    </>
  );
}

interface SectionsProps extends Omit<FieldsProps, 'pointer' | 'fields'> {
  readonly resource: Resource;
  /** What stands below the sections of the narrow column. */
  readonly children?: ComponentChildren;
}

/** All fields of a record, in the parts that {@link SECTIONS} names. */
export function Sections({ resource, children, ...rest }: SectionsProps): JSX.Element {
  const { form: fields } = resource;
  const sections = SECTIONS[resource.name] ?? [{ title: '', fields: [] }];
  const named = sections.flatMap((one) => one.fields);
  const column = (isAside: boolean) =>
    sections
      .filter((one) => (one.isAside ?? false) === isAside)
      .map((section) => {
        const own = section.fields.flatMap((name) => fields.filter((field) => field.name === name));
        const others = section === sections[0] ? fields.filter(({ name }) => !named.includes(name)) : [];
        // The only field of a section repeats no title.
        const isTitled = !own.some(({ name }) => labelOf(name) === section.title);
        return (
          <section key={section.title} class={`form-section ${isTitled ? '' : 'one'}`}>
            {section.title !== '' && <h2>{section.title}</h2>}
            <div class="form-row">
              <Fields {...rest} pointer="" fields={[...own, ...others]} />
            </div>
          </section>
        );
      });
  const aside = column(true);
  return (
    <div class="form-columns">
      <div>{column(false)}</div>
      {(aside.length > 0 || children) && (
        <div>
          {aside}
          {children}
        </div>
      )}
    </div>
  );
}

export function FieldControl(props: ControlProps<FormValue>): JSX.Element {
  const { kind } = props.field;
  const Control = (kind in CONTROLS ? CONTROLS[kind as keyof typeof CONTROLS] : OneControl) as AnyControl;
  return <Control {...props} />;
}

type LabelledProps = Pick<ControlProps<FormValue>, 'field' | 'pointer' | 'messages'>;

/** What {@link Labelled} gets for the field at a JSON Pointer. */
function useLabelling({ field, pointer, messages }: LabelledProps) {
  const resource = useContext(CompletedResource);
  const path = pathAt(pointer);
  return {
    label: labelOf(path),
    hint: wordsOf(path, resource?.name)?.help,
    isRequired: field.isRequired,
    error: messages.get(pointer),
  };
}

type OneField = Extract<Field, { readonly kind: 'text' | 'number' | 'moment' }> | ChoiceField;

/** A text, one of a few texts, a number or a moment. */
function OneControl(props: ControlProps<string | null, OneField>): JSX.Element {
  const { field, pointer, value, onChange } = props;
  const { api, resources } = useConsole();
  const resource = useContext(CompletedResource);
  const labels = useLabelling(props);
  const [list, completions] = useCompletions(pointer, field.kind === 'text' ? (value ?? '') : '');
  const control = (given: LabelledControl) => {
    const shared = { ...given, 'data-pointer': pointer, value: value ?? '' };
    if (field.kind === 'moment') return <Input {...shared} type="datetime-local" onType={onChange} />;
    if (field.kind === 'number') {
      const target = referredBy(field.name, resources);
      if (!target || !api.mayRead(target)) return <Input {...shared} inputMode="decimal" onType={onChange} />;
      return <Reference {...{ control: given, pointer, target, onChange }} value={shared.value} />;
    }
    if (field.kind !== 'text') {
      const none = wordsOf(field.name)?.none ?? form.noValue;
      const options = ['', ...field.values].map((one) => [one, labelOf(one || none)] as const);
      return <Select {...shared} options={options} onChoose={onChange} />;
    }
    /** A text area has line feeds alone, so a text with CRLF gets its own line breaks back. */
    const type = (typed: string) =>
      onChange(typed === '' && field.allowsEmpty ? null : value?.includes('\r\n') ? withCrlf(typed) : typed);
    if (field.isMultiline)
      return <textarea {...shared} rows={4} onInput={({ currentTarget }) => type(currentTarget.value)} />;
    const kind = field.name === 'url' ? 'url' : 'text';
    const input = <Input {...shared} type={kind} list={list} spellcheck={false} onType={type} />;
    if (!resource?.fields.some(({ name, meaning }) => meaning === 'link' && pointer === pointerTo(name)))
      return [input, completions];
    return (
      <div class="with-button">
        {input}
        {/^https?:/i.test(shared.value) && (
          <a class="button" href={shared.value} target="_blank" rel="noreferrer noopener">
            {form.open}
          </a>
        )}
      </div>
    );
  };
  return <Labelled {...labels}>{control}</Labelled>;
}

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

/** Scopes that the person has or resources that it may read, and what somebody else chose. */
function ChoicesControl({ value, onChange, ...props }: ControlProps<readonly string[], ChoiceField>) {
  const { api, resources } = useConsole();
  const { mayRead, scopes } = api.permissions;
  const { values } = props.field;
  const choose = (name: string, isChosen: boolean) =>
    onChange(values.filter((one) => (one === name ? isChosen : value.includes(one))));
  return (
    <Group {...props}>
      <div class="checks">
        {values
          .filter((one) => mayRead.has(one) || scopes.includes(one) || value.includes(one))
          .map((one) => (
            <Check key={one} isChecked={value.includes(one)} onCheck={(isChosen) => choose(one, isChosen)}>
              {resources.find(({ name }) => name === one)?.title ?? TEXTS.scope(one)}
              {one.includes(':') && <code>{one}</code>}
            </Check>
          ))}
      </div>
    </Group>
  );
}

/** Texts as chips. Enter makes one of what is typed; Backspace before any text removes the last. */
function ChipsControl(props: ControlProps<ChipsValue, ChipsField>) {
  const { field, pointer, value, messages, onChange } = props;
  const labels = useLabelling(props);
  const resource = useContext(CompletedResource);
  const links = resource && textLinks(resource);
  const input = useRef<HTMLInputElement>(null);
  const { texts, typed } = value;
  const [list, completions] = useCompletions(pointer, typed);
  // Not when the control is left: a new line of chips would move a button away from the pointer that presses it.
  const add = (text: string) => onChange({ texts: withTyped({ texts, typed: text }, field), typed: '' });
  const press = (event: KeyboardEvent) => {
    const isRemoval = event.key === 'Backspace' && typed === '' && texts.length > 0;
    const isAddition = typed !== '' && (event.key === 'Enter' || field.separators.includes(event.key));
    if (!isRemoval && !isAddition) return;
    event.preventDefault();
    if (isRemoval) onChange({ texts: texts.slice(0, -1), typed });
    else add(typed);
  };
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text') ?? '';
    if (withTyped({ texts: [], typed: text }, field).length < 2) return;
    event.preventDefault();
    add(`${typed}${text}`);
  };
  const remove = (text: string) => {
    onChange({ texts: texts.filter((one) => one !== text), typed });
    input.current?.focus();
  };
  const own = (at: number) => pointer + pointerTo(at);
  const error = [...messages]
    .filter(([at]) => at === pointer || at.startsWith(`${pointer}/`))
    .map(([at, message]) =>
      at === pointer ? message : `“${withTyped(value, field)[Number(stepsOf(at).at(-1))]}”: ${message}`,
    )
    .join(' ');
  return (
    <Labelled {...labels} error={error}>
      {(control) => (
        <>
          {texts.length > 0 && (
            <ul class="chips" aria-label={labels.label}>
              {texts.map((text, at) => (
                <li key={text} class="chip">
                  <Linked href={links?.(field, text)}>{text}</Linked>{' '}
                  <Button
                    kind="link"
                    data-pointer={own(at)}
                    aria-label={form.removeChip(text)}
                    onClick={() => remove(text)}
                  >
                    ×
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...control}
            ref={input}
            data-pointer={typed === '' ? pointer : own(texts.length)}
            list={list}
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => onChange({ texts, typed: currentTarget.value })}
            onKeyDown={press}
            onPaste={paste}
          />
          {completions}
        </>
      )}
    </Labelled>
  );
}

/** Several controls under one legend. The error of the whole is in its description. */
function Group({ children, ...props }: LabelledProps & { readonly children: ComponentChildren }) {
  const { label, hint, isRequired, error } = useLabelling(props);
  const id = useId();
  return (
    <fieldset class="group" data-pointer={props.pointer} tabIndex={-1} aria-describedby={error && id}>
      <legend>
        {label}
        {isRequired && <span aria-hidden="true"> *</span>}
      </legend>
      {error && (
        <p class="field-error" id={id}>
          {error}
        </p>
      )}
      {hint && <p class="hint">{hint}</p>}
      {children}
    </fieldset>
  );
}

/** Its two fields, and the price as the console reads them. */
function PriceControl({ field, value, onChange, ...rest }: ControlProps<FormValues, ListField>) {
  const currency = String(value['currency'] ?? '');
  const amount = typedAmount(String(value['amount'] ?? ''), currency);
  const [isNew] = useState(currency === '');
  const [usual = ''] = useFrequentValues(isNew ? `${field.name}.currency` : undefined, 1);
  /** The usual currency comes and goes with the amount. */
  const change = (next: FormValues) => {
    const [from, to] = next['amount'] === '' ? [usual, ''] : ['', usual];
    const isOther = (value['amount'] === '') !== (next['amount'] === '') && next['currency'] === from;
    onChange(isOther ? { ...next, currency: to } : next);
  };
  return (
    <div class="form-row price-row">
      <Fields fields={field.fields} values={value} {...rest} onChange={change} />
      {typeof amount === 'number' && currency !== '' && (
        <output class="price">{priceText({ amount, currency })}</output>
      )}
    </div>
  );
}

interface RowsProps<R> extends LabelledProps {
  readonly rows: readonly R[];
  readonly newRow: () => R;
  readonly onChange: (rows: readonly R[]) => void;
  /** What a person calls a row. */
  readonly label: (row: R, at: number) => string;
  /** Whether the order of the rows means something, so that a person can change it. */
  readonly isOrdered?: boolean;
  readonly children: (row: R, at: number, onChange: (row: R) => void) => JSX.Element;
}

/**
 * Rows under one legend to add, to remove and to move. A new row gets the focus; after a removal the button that adds
 * rows gets it, and after a move a button of the same row that moves it.
 */
function Rows<R extends { readonly rowId: number }>(props: RowsProps<R>) {
  const { rows, newRow, onChange, label, isOrdered = false, children, ...labelled } = props;
  const root = useRef<HTMLDivElement>(null);
  const focusNext = useNextFocus(root);
  const move = (from: number, step: -1 | 1) => {
    const to = from + step;
    const isAtEnd = to + step < 0 || to + step >= rows.length;
    const way = isAtEnd ? -step : step;
    focusNext(`:scope > .form-row:nth-child(${to + 1}) > .row-tools > [data-step="${way}"]`);
    onChange(rows.map((row, at) => (at === to ? rows[from] : at === from ? rows[to] : row) as R));
  };
  const mover = (row: R, at: number, step: -1 | 1) =>
    isOrdered &&
    rows[at + step] !== undefined && (
      <Button data-step={step} aria-label={form.move(label(row, at), step)} onClick={() => move(at, step)}>
        {step < 0 ? '↑' : '↓'}
      </Button>
    );
  return (
    <Group {...labelled}>
      <div ref={root} class={isOrdered ? '' : 'compact'}>
        {rows.map((row, at) => (
          <fieldset class="form-row" key={row.rowId} aria-label={label(row, at)}>
            {children(row, at, (changed) => onChange(rows.map((one) => (one === row ? changed : one))))}
            <div class="row-tools">
              {mover(row, at, -1)}
              {mover(row, at, 1)}
              <Button
                aria-label={form.removeRow(label(row, at))}
                onClick={() => {
                  focusNext(':scope > button');
                  onChange(rows.filter((one) => one !== row));
                }}
              >
                ×
              </Button>
            </div>
          </fieldset>
        ))}
        <Button
          onClick={() => {
            focusNext(':scope > .form-row:nth-last-child(2) input');
            onChange([...rows, newRow()]);
          }}
        >
          {form.addEntry(entryOf(props.pointer))}
        </Button>
      </div>
    </Group>
  );
}

function MapControl({ value, onChange, ...rest }: ControlProps<readonly MapRow[]>) {
  return (
    <Rows {...rest} rows={value} newRow={newMapRow} onChange={onChange} label={({ key }) => form.attribute(key)}>
      {(row, _at, change) => {
        const own = rest.pointer + pointerTo(row.key);
        const set = (part: Partial<MapRow>) => change({ ...row, ...part });
        const choose = (type: MapRow['type']) =>
          set({ type, text: type === 'boolean' && row.text !== 'true' ? 'false' : row.text });
        return (
          <>
            <TextField label={form.key} spellcheck={false} value={row.key} onType={(key) => set({ key })} />
            <Choice label={form.type} value={row.type} options={TYPES} onChoose={choose} />
            <Labelled label={form.value} error={rest.messages.get(own)}>
              {(control) => {
                const shared = { ...control, 'data-pointer': own, value: row.text };
                const type = (text: string) => set({ text });
                if (row.type === 'boolean')
                  return <Select {...shared} options={Object.entries(form.booleans)} onChoose={type} />;
                return <Input {...shared} inputMode={row.type === 'number' ? 'decimal' : 'text'} onType={type} />;
              }}
            </Labelled>
          </>
        );
      }}
    </Rows>
  );
}

const TYPES = Object.entries(form.types) as [MapRow['type'], string][];

/** What one entry of a list or a map is called. */
function entryOf(pointer: string): string {
  return wordsOf(pathAt(pointer))?.entry ?? labelOf(pathAt(pointer)).toLowerCase();
}

function ListControl({ field, value, onChange, ...rest }: ControlProps<readonly ListRow[], ListField>) {
  return (
    <Rows
      {...{ field, onChange, ...rest }}
      rows={value}
      newRow={() => newListRow(field)}
      isOrdered
      label={(_row, at) => form.entry(entryOf(rest.pointer), at)}
    >
      {(row, at, change) => (
        <>
          {field.fields.some(({ name }) => name === 'url') && <Preview url={String(row.values['url'] ?? '')} />}
          <div class="fields">
            <Fields
              fields={field.fields}
              values={row.values}
              pointer={rest.pointer + pointerTo(at)}
              messages={rest.messages}
              onChange={(values) => change({ ...row, values })}
            />
          </div>
        </>
      )}
    </Rows>
  );
}

type AnyControl = (props: ControlProps<FormValue>) => JSX.Element;

/** The controls of the kinds of fields that are not one text or number. */
const CONTROLS = {
  choices: ChoicesControl,
  chips: ChipsControl,
  price: PriceControl,
  list: ListControl,
  map: MapControl,
};
