import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { FacetValue } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { ErrorNotice } from '../components/notice.js';
import { textOf } from '../components/value.js';
import { labelOf, numberText } from '../formats.js';
import type { Filter, ListState } from '../list-query.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { chosenValues, type FacetField, type FacetRow, facetRequests, facetRows, toggled } from './facet-query.js';
import { PrefixBox } from './prefix-box.js';
import { useValues } from './use-values.js';

const { facets: texts } = TEXTS;

/** The values of a page, if the panel reads its values alone. */
const PAGE = 50;

/** What of a panel is shown. */
export interface PanelView {
  readonly isOpen: boolean;
  /** Whether all values are shown, page after page. */
  readonly isLong: boolean;
  readonly prefix: string;
}

/** Whether the panel reads its values by its own requests. */
export function isAlone({ isLong, prefix }: PanelView): boolean {
  return isLong || prefix !== '';
}

interface FacetPanelProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly of: FacetField;
  readonly view: PanelView;
  /** The first values; undefined if they are not known. */
  readonly found: { readonly values: readonly FacetValue[]; readonly more: boolean } | undefined;
  readonly isLoading: boolean;
  /** How often others changed something. */
  readonly news: number;
  onView(part: Partial<PanelView>): void;
  onChoose(filters: readonly Filter[]): void;
}

/** The values of one field with the number of records that have each. A click filters by a value, or no longer. */
export function FacetPanel(props: FacetPanelProps): JSX.Element | null {
  const { resource, state, of, view, found, news, onView, onChoose } = props;
  const { isOpen, prefix } = view;
  const field = resource.fields.find(({ name }) => name === of.field);
  const isOwn = isOpen && isAlone(view);
  const [first = ''] = isOwn ? facetRequests(resource, state, [of], { limit: PAGE, prefix }) : [];
  const own = useValues(resource, first, news);
  const { error, value, readMore } = own;
  const label = of.key === '' ? labelOf(of.field) : of.key;
  const chosen = chosenValues(state.filters, of);
  // What the person types in stays, whatever is found.
  const hasBox = useRef(false);
  const isChoice = field?.schema.enum !== undefined;
  hasBox.current ||= !isChoice && (found?.more === true || isAlone(view));
  const isFailed = isOwn && error !== undefined;
  const isBegun = isOwn && value === undefined;
  const counts = isOwn ? value?.counts : found?.values;
  const known = isFailed ? undefined : isBegun && prefix === '' ? found?.values : counts;
  if (of.key === '' && !isOwn && counts?.length === 0 && chosen.length === 0) return null;
  return (
    <Panel label={label} note={chosen.length} isOpen={isOpen} onOpen={(open) => onView({ isOpen: open })}>
      {hasBox.current && <PrefixBox label={label} onSettle={(next) => onView({ prefix: next })} />}
      {isFailed && <ErrorNotice error={error} title={texts.failed} onRetry={own.reload} />}
      <ValueList
        label={label}
        rows={known && facetRows(known, chosen).map((row) => ({ ...row, label: textOf(row.text, isChoice) }))}
        none={prefix === '' ? texts.none : texts.noneWithPrefix}
        isLoading={isOwn ? own.isLoading : props.isLoading}
        readMore={isOwn ? readMore : found?.more ? () => onView({ isLong: true }) : undefined}
        onToggle={(text) => onChoose(toggled(state.filters, of, text))}
      />
      {field?.meaning === 'paths' && (
        <p>
          <a href={hashOf({ page: 'tree', resource: resource.name, field: field.name })}>{TEXTS.tree.title(label)}</a>
        </p>
      )}
      {isOwn && value?.hasMore && !readMore && <p class="hint">{texts.tooMany(numberText(value.counts.length))}</p>}
    </Panel>
  );
}

interface PanelProps {
  readonly label: string;
  /** How much is chosen. */
  readonly note?: number;
  readonly isOpen: boolean;
  onOpen(isOpen: boolean): void;
  readonly children: ComponentChildren;
}

/** A part that opens. What it contains exists only while it is open. */
export function Panel({ label, note = 0, isOpen, onOpen, children }: PanelProps): JSX.Element {
  return (
    <details
      class="facet"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open !== isOpen && onOpen(currentTarget.open)}
    >
      <summary>
        {label}
        {note > 0 && <span class="badge">{texts.chosen(note)}</span>}
      </summary>
      {isOpen && children}
    </details>
  );
}

/** A value as a list shows it. */
interface ValueRow extends FacetRow {
  readonly label: string;
  /** How long its bar is, from 0 to 1; absent: it has none. */
  readonly share?: number;
}

interface ValueListProps {
  readonly label: string;
  /** Undefined: not known. */
  readonly rows: readonly ValueRow[] | undefined;
  /** What is said if there are none. */
  readonly none: string;
  readonly isLoading: boolean;
  readonly readMore?: (() => void) | undefined;
  onToggle(text: string): void;
}

/** Values to tick, each with the number of its records. */
export function ValueList({ label, rows, none, isLoading, readMore, onToggle }: ValueListProps): JSX.Element {
  return (
    <fieldset aria-label={label} aria-busy={isLoading}>
      <ul class="facet-values">
        {rows?.map(({ text, label: words, count, share = 0, isChosen }) => (
          <li key={text}>
            <label style={{ '--share': share }}>
              <input type="checkbox" checked={isChosen} onChange={() => onToggle(text)} />
              <span>{words}</span>
              {count !== undefined && <span class="count">{numberText(count)}</span>}
            </label>
          </li>
        ))}
      </ul>
      {!rows && isLoading && <p class="note">{TEXTS.list.loading}</p>}
      {rows?.length === 0 && <p class="note">{none}</p>}
      {readMore && (
        <Button kind="link" aria-label={texts.moreOf(label)} busy={isLoading} onClick={readMore}>
          {texts.more}
        </Button>
      )}
    </fieldset>
  );
}
