import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CatalogueError, type Snapshot, UnknownOutcomeError } from '#packages/client/index.js';
import type { References } from '../../docs/references.js';
import { Button } from '../components/button.js';
import { Since } from '../components/notice.js';
import { useConsole } from '../context.js';
import { AlteredTagError, brokenRule, codeOf, describeError } from '../describe-error.js';
import { placeOf } from '../formats.js';
import { randomKey } from '../random-key.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, ErrorText, Resource } from '../types.js';
import { CompletedResource } from './completions.js';
import { type Conflict, ConflictDialog } from './conflict-dialog.js';
import { Creation, type Failure } from './creation.js';
import { type Messages, Sections } from './fields.js';
import { bodyOf, type FormValues, formOf } from './form-model.js';
import { isSame, type JsonObject, mergePatch } from './json.js';
import { differencesOf } from './three-way.js';
import { UnsavedGuard, useSaveKey } from './unsaved.js';

const { form, live } = TEXTS;

export type Found = Snapshot<CatalogueRecord>;

interface RecordEditorProps {
  readonly resource: Resource;
  /** The record as it was read; undefined for a new one. */
  readonly found?: Found;
  /** What somebody else made of the record since it was read. */
  readonly newest?: Found | 'deleted' | undefined;
  /** Whether the form shows what somebody else wrote. */
  readonly isRenewed?: boolean;
  /** Called with a newer version that the form shows now. */
  readonly onRenewed?: (newest: Found) => void;
  /** Called with what the service has now. A record that was made anew has another id. */
  readonly onSaved: (saved: Found) => void;
  /** What a new record starts with. */
  readonly draft?: JsonObject;
  /** Is set to whether the form has text that is not saved. */
  readonly dirty?: { current: boolean };
  /** What stands beside the form. */
  readonly children?: ComponentChildren;
}

/** The form of a record. What was typed stays whatever a request meets. */
export function RecordEditor(props: RecordEditorProps): JSX.Element {
  const { resource, found, newest, isRenewed = false, onSaved, onRenewed, draft, dirty, children } = props;
  const { api, references } = useConsole();
  const element = useRef<HTMLFormElement>(null);
  useSaveKey(element);
  const collection = api.collection(resource);
  const fields = resource.form;
  const [base, setBase] = useState(found);
  const [initial, setInitial] = useState(() => formOf(fields, asJson(found)));
  const [values, setValues] = useState(() => (draft ? formOf(fields, draft) : initial));
  const [failed, setFailed] = useState<Failed>();
  /** The fields that changed since the last attempt: what was wrong with them may be mended. */
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [conflict, setConflict] = useState<Conflict & { readonly theirs: Found }>();
  const [isSaving, setSaving] = useState(false);
  const isBusy = useRef(false);
  const [creation] = useState(
    () =>
      new Creation<Found>((body, idempotencyKey) => collection.create(body, { idempotencyKey }), failureOf, randomKey),
  );
  /** What of a record the form can change. */
  const editable = (record: Found): JsonObject => bodyOf(fields, formOf(fields, asJson(record))).body;

  /** What the person types from now on is a change of this version. */
  const rebase = (next: Found) => {
    const read = formOf(fields, asJson(next));
    setBase(next);
    setInitial(read);
    return read;
  };
  const finish = (saved: Found) => {
    setValues(rebase(saved));
    setConflict(undefined);
    onSaved(saved);
  };
  const fail = (reason: Failed) => {
    setTouched(new Set());
    setFailed(reason);
  };

  /**
   * Sends what differs from the version that was read, and only for this version. A record that is as it was read is no
   * conflict: the same change is sent once more, for the version that it has now.
   */
  const saveChanges = async (from: Found, body: JsonObject, isRepeated = false) => {
    const patch = mergePatch(editable(from), body);
    try {
      finish(Object.keys(patch).length === 0 ? from : await collection.patch(from, patch));
    } catch (error) {
      // Reading the record tells what is true after a lost response too.
      if (!(error instanceof UnknownOutcomeError) && codeOf(error) !== 'precondition_failed') throw error;
      const theirs = await collection.read(from.id, { noCache: true });
      if (!isSame(editable(theirs), editable(from))) compare(from, body, theirs);
      else if (!isRepeated) await saveChanges(theirs, body, true);
      else throw error instanceof UnknownOutcomeError ? error : new AlteredTagError();
    }
  };
  /** Finds what somebody else changed. After a lost response that may be nothing. */
  const compare = (from: Found, body: JsonObject, theirs: Found) => {
    const versions = { base: editable(from), yours: body, theirs: editable(theirs) };
    if (differencesOf(fields, versions).length === 0) finish(theirs);
    else setConflict({ versions, theirs, isAgain: conflict !== undefined });
  };
  const create = async (body: JsonObject) => {
    const made = await creation.save(body);
    if (!resource.canPatch || isSame(editable(made), body)) return finish(made);
    // An earlier attempt made it, and its response was lost.
    rebase(made);
    await saveChanges(made, body);
  };
  const send = async (from: Found | undefined, body: JsonObject) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSaving(true);
    setFailed(undefined);
    try {
      await (from ? saveChanges(from, body) : create(body));
    } catch (error) {
      handle(error, from, body);
    } finally {
      isBusy.current = false;
      setSaving(false);
    }
  };
  /** Shows a choice between two versions in the form, where the person can change it. */
  const edit = (from: Found, body: JsonObject) => {
    setConflict(undefined);
    rebase(from);
    setValues(formOf(fields, body));
  };
  const handle = (error: unknown, from: Found | undefined, body: JsonObject) => {
    const isGone = from !== undefined && codeOf(error) === 'not_found';
    if (from && conflict && (isGone || (error instanceof CatalogueError && error.details.length > 0))) edit(from, body);
    if (!isGone) return fail(failedOf(error, resource, references));
    setBase(undefined);
    fail({ title: form.goneTitle, text: form.gone, problems: [] });
  };

  /** Does something with what was typed, if it can be sent. */
  const withBody = (use: (body: JsonObject) => void) => {
    const { body, problems } = bodyOf(fields, values);
    if (problems.length === 0) return use(body);
    const said = problems.map((one) => ({ pointer: one.pointer, message: form.problem(one) }));
    fail({ title: form.problemsTitle, text: '', problems: said });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    withBody((body) => void send(base, body));
  };
  const change = (next: FormValues) => {
    const name = fields.find((field) => next[field.name] !== values[field.name])?.name;
    if (name !== undefined) setTouched(new Set([...touched, name]));
    setValues(next);
  };
  const standing = failed?.problems.filter(({ pointer }) => !touched.has(pointer?.split('/')[1] ?? '')) ?? [];
  const isAnew = found !== undefined && base === undefined;
  const isDirty = JSON.stringify(values) !== JSON.stringify(initial);
  if (dirty) dirty.current = isDirty;
  const isInUse = isSaving || conflict !== undefined;
  const isOther = newest && newest !== 'deleted' && newest.etag !== base?.etag;
  const theirs = base && isOther && !isInUse ? newest : undefined;
  const renew = (next: Found) => {
    setValues(rebase(next));
    onRenewed?.(next);
  };
  useEffect(() => {
    if (newest === 'deleted' && !isInUse) setBase(undefined);
    if (!base || !theirs) return;
    if (isSame(editable(theirs), editable(base))) setBase(theirs);
    else if (!isDirty && !isWriting(element.current)) renew(theirs);
  }, [newest, isInUse]);
  return (
    <form class="record" ref={element} noValidate onSubmit={submit}>
      {failed && !conflict && <ProblemSummary failed={failed} />}
      <CompletedResource.Provider value={resource}>
        <Sections {...{ resource, values }} messages={messagesOf(standing)} onChange={change}>
          {children}
        </Sections>
      </CompletedResource.Provider>
      <div class="save-bar">
        {isAnew && !failed && <Since text={`${form.goneTitle}. ${form.gone}`} />}
        {!isAnew && (
          <Since text={theirs ? (isDirty ? live.untouched : live.stale) : isRenewed && !isDirty ? live.renewed : ''}>
            {theirs && isDirty && (
              <Button onClick={() => withBody((body) => compare(base as Found, body, theirs))}>{live.compare}</Button>
            )}
            {theirs && !isDirty && <Button onClick={() => renew(theirs)}>{live.showNow}</Button>}
          </Since>
        )}
        <p class="actions">
          <Button submit kind="primary" busy={isSaving} aria-keyshortcuts="Control+S" title="Ctrl+S">
            {isSaving ? form.saving : isAnew ? form.createAnew : base ? form.save : form.create}
          </Button>
          {isDirty && base && <Button onClick={() => setValues(initial)}>{form.revert}</Button>}
          {isDirty && <span class="hint">{form.notSaved}</span>}
        </p>
      </div>
      <UnsavedGuard isDirty={isDirty} />
      {conflict && (
        <ConflictDialog
          key={conflict.theirs.etag}
          {...{ ...conflict, fields, failed, isSaving }}
          onSave={(record) => void send(conflict.theirs, record)}
          onEdit={(record) => edit(conflict.theirs, record)}
          onClose={() => setConflict(undefined)}
        />
      )}
    </form>
  );
}

/** Whether the focus is in a field, so that the person may be about to write. */
function isWriting(form: HTMLFormElement | null): boolean {
  const { activeElement } = document;
  return form?.contains(activeElement) === true && activeElement?.matches('input, textarea, select') === true;
}

function asJson(found: Found | undefined): JsonObject {
  return (found?.data ?? {}) as unknown as JsonObject;
}

/** The statuses of a request whose content was validated. */
const VALIDATED = [400, 409, 413, 415, 422];
/** The statuses of a request that was refused before. */
const NOT_CARRIED_OUT = [401, 403, 429];

function failureOf(error: unknown): Failure {
  if (!(error instanceof CatalogueError) || error.code === 'unexpected_response') return 'unknown';
  if (VALIDATED.includes(error.status)) return 'refused';
  return NOT_CARRIED_OUT.includes(error.status) ? 'not_carried_out' : 'unknown';
}

/** Something that is wrong with what a person typed. */
interface Problem {
  /** A JSON Pointer; undefined if the problem has no place in the body. */
  readonly pointer: string | undefined;
  readonly message: string;
}

/** Why nothing was saved. Each failed attempt makes a new object, so that it gets the focus again. */
interface Failed extends ErrorText {
  readonly problems: readonly Problem[];
}

/** Why a form was not saved: what is wrong with each of its fields, if the service says so. */
function failedOf(error: unknown, resource: Resource, references: References): Failed {
  if (!(error instanceof CatalogueError) || error.details.length === 0)
    return { ...describeError(error), problems: [] };
  const problems = error.details.map((detail) => {
    const pointer = 'pointer' in detail ? detail.pointer : undefined;
    return { pointer, message: brokenRule(detail, resource, references) };
  });
  return { title: form.problemsTitle, text: '', problems };
}

function messagesOf(problems: readonly Problem[]): Messages {
  const messages = new Map<string, string>();
  for (const { pointer = '', message } of problems)
    messages.set(pointer, [messages.get(pointer), message].filter(Boolean).join(' '));
  return messages;
}

/** All problems above the form, with links to their fields. It gets the focus as soon as it is shown. */
function ProblemSummary({ failed }: { readonly failed: Failed }) {
  const summary = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => summary.current?.focus(), [failed]);
  const show = (pointer: string) =>
    summary.current
      ?.closest('form')
      ?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(pointer)}"]`)
      ?.focus();
  return (
    <div class="notice error" ref={summary} tabIndex={-1} role="alert">
      <p class="notice-title">{failed.title}</p>
      {failed.text && <p>{failed.text}</p>}
      {failed.problems.length > 0 && (
        <ul>
          {failed.problems.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              {pointer ? (
                <Button kind="link" onClick={() => show(pointer)}>
                  {placeOf(pointer)}: {message}
                </Button>
              ) : (
                message
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
