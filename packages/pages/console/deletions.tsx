import type { JSX } from 'preact';
import { useEffect, useReducer } from 'preact/hooks';
import { UnknownOutcomeError } from '#packages/client/index.js';
import { Button } from './components/button.js';
import { AlteredTagError, codeOf, describeError } from './describe-error.js';
import { DeletionQueue, type QueuedDeletion } from './edit/deletion-queue.js';
import { isSame, type JsonObject } from './edit/json.js';
import { hashOf } from './router.js';
import { TEXTS } from './texts.js';
import type { Api, CatalogueRecord, Resource } from './types.js';

const { deletion: texts } = TEXTS;

/** Makes the queue of a signed-in person. */
export function createDeletionQueue(api: Api): DeletionQueue {
  return new DeletionQueue(({ resource, record, etag }) => carryOut(api.collection(resource), record, etag));
}

/** Deletes a record as the person saw it. If only its version has changed since, it is deleted all the same. */
async function carryOut(
  collection: ReturnType<Api['collection']>,
  record: CatalogueRecord,
  etag: string | undefined,
  isRepeated = false,
): Promise<void> {
  const { id } = record;
  try {
    await collection.delete(etag === undefined ? id : { id, etag });
  } catch (error) {
    if (codeOf(error) === 'not_found') return;
    const isRefused = isOfVersion(error);
    if (!isRefused && !(error instanceof UnknownOutcomeError)) throw error;
    // An attempt whose response was lost may have deleted the record. Reading it finds out.
    const found = await collection.read<never>(id, { noCache: true }).catch((failure: Error) => failure);
    if (codeOf(found) === 'not_found') return;
    if (!isRefused || found instanceof Error || !isSame(asJson(found.data), asJson(record))) throw error;
    if (isRepeated) throw new AlteredTagError();
    await carryOut(collection, record, found.etag, true);
  }
}

const isOfVersion = (error: unknown) => codeOf(error) === 'precondition_failed';
const asJson = (record: CatalogueRecord) => record as unknown as JsonObject;

/** What a person calls a record. */
export function recordName(resource: Resource, { id, name }: CatalogueRecord): string {
  return typeof name === 'string' ? `“${name}”` : `${resource.singular} ${id}`;
}

/** Draws the component again after each change of the queue. */
export function useDeletions(queue: DeletionQueue): void {
  const [, update] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => queue.subscribe(() => update(undefined)), [queue]);
}

/** The waiting deletions with their buttons to undo. The shell shows it below the page. */
export function Deletions({ queue }: { readonly queue: DeletionQueue }): JSX.Element {
  useDeletions(queue);
  // Nobody could undo them after signing out.
  useEffect(
    () => () => {
      for (const { resource, record } of queue.deletions) queue.undo(resource, record.id);
    },
    [queue],
  );
  // The time to undo stands still for a person who is on the way to the button.
  const hold = () => queue.hold(true);
  const release = () => queue.hold(false);
  return (
    <div role="status" onMouseEnter={hold} onMouseLeave={release} onFocusIn={hold} onFocusOut={release}>
      {queue.deletions.map((one) => (
        <DeletionNotice key={`${one.resource.path}/${one.record.id}`} deletion={one} queue={queue} />
      ))}
    </div>
  );
}

function DeletionNotice({ deletion, queue }: { readonly deletion: QueuedDeletion; readonly queue: DeletionQueue }) {
  const { resource, record, state, error } = deletion;
  const name = recordName(resource, record);
  const isFailed = state === 'failed';
  const { title, text } = isOfVersion(error) ? { title: '', text: texts.conflict } : describeError(error);
  return (
    <div class={`notice ${isFailed ? 'error' : ''}`}>
      {isFailed ? (
        <p>
          <strong>{texts.failed(name)}</strong> {title && `${title}. `}
          {text} <a href={hashOf({ page: 'record', resource: resource.name, id: record.id })}>{texts.show}</a>
        </p>
      ) : (
        <p>{state === 'waiting' ? texts.waiting(name) : texts.sending(name)}</p>
      )}
      {state !== 'sending' && (
        <Button
          aria-label={isFailed ? texts.dismissOne(name) : texts.undoOne(name)}
          onClick={() => queue.undo(resource, record.id)}
        >
          {isFailed ? texts.dismiss : texts.undo}
        </Button>
      )}
    </div>
  );
}
