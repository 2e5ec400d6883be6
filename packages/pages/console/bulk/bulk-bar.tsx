import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { useConsole } from '../context.js';
import { describeError } from '../describe-error.js';
import { numberText } from '../formats.js';
import type { Selection } from '../selection.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useAction } from '../use-load.js';
import { actionName, BulkDialog, keyOf } from './bulk-dialog.js';
import { actionsOf, type BulkAction } from './changes.js';

const { bulk: texts } = TEXTS;

interface BulkBarProps {
  readonly resource: Resource;
  readonly selection: Selection;
  /** The filters, search and sort of the list, by their parameter names. */
  readonly query: Readonly<Record<string, string>>;
  readonly page: Page<CatalogueRecord>;
  /** How many records match, if that is known. */
  readonly total: number | undefined;
  /** Reads the list again. */
  reload(): void;
}

/** How many records are selected, and what can be done with them. */
export function BulkBar(props: BulkBarProps): JSX.Element | null {
  const { resource, selection, query, reload } = props;
  const { undo } = useConsole();
  const [begun, setBegun] = useState<{ readonly first: BulkAction | undefined }>();
  const lastUndo = useRef(undo);
  useEffect(() => {
    if (lastUndo.current && !undo) reload();
    lastUndo.current = undo;
  }, [undo]);
  const close = (isDone: boolean) => {
    setBegun(undefined);
    if (isDone) reload();
  };
  if (selection.ids.size === 0 && !begun) return null;
  return (
    <section class="bulk-bar" aria-label={texts.title}>
      {begun && <BulkDialog {...{ resource, selection, query, ...begun }} onClose={close} />}
      <strong role="status">{texts.selected(numberText(selection.ids.size))}</strong>
      <SelectMore {...props} />
      <Button kind="link" onClick={() => selection.replace([])}>
        {texts.clear}
      </Button>
      <div class="bulk-actions">
        {actionsOf(resource).map((action) => (
          <Button key={keyOf(action)} onClick={() => setBegun({ first: action })}>
            {actionName(action)}
          </Button>
        ))}
        <Button kind="danger" onClick={() => setBegun({ first: undefined })}>
          {texts.deleteThem}
        </Button>
      </div>
    </section>
  );
}

/** Selects the rest of the page, then all records that match. */
function SelectMore({ resource, selection, query, page, total }: BulkBarProps): JSX.Element | null {
  const { api, notify } = useConsole();
  const { run, isBusy } = useAction(async () => {
    try {
      const all: number[] = [];
      for await (const { id } of api.collection(resource).export({ ...query, fields: ['id'] })) all.push(id);
      selection.replace(all, { areAll: true });
    } catch (error) {
      const { title, text } = describeError(error);
      notify({ kind: 'error', text: `${title}. ${text}` });
    }
  });
  const ids = page.records.map(({ id }) => id);
  const isWholePage = ids.every((id) => selection.ids.has(id));
  const hasMore = page.next !== undefined || page.prev !== undefined;
  if (!isWholePage)
    return (
      <Button kind="link" onClick={() => selection.toggle(ids, true)}>
        {texts.selectPage}
      </Button>
    );
  if (!hasMore || selection.areAll || (total !== undefined && total <= selection.ids.size)) return null;
  return (
    <Button kind="link" busy={isBusy} onClick={run}>
      {texts.selectAll(total === undefined ? '' : numberText(total))}
    </Button>
  );
}
