import type { ComponentChildren, JSX } from 'preact';
import { CatalogueError } from '#packages/client/index.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { Button } from '../components/button.js';
import { FramedTable } from '../components/framed-table.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { Details, Value } from '../components/value.js';
import { useConsole } from '../context.js';
import { recordName } from '../deletions.js';
import { brokenRule } from '../describe-error.js';
import type { Field } from '../edit/form-model.js';
import { isObject, type Json, type JsonObject, jsonIn } from '../edit/json.js';
import { shownOf } from '../edit/three-way.js';
import { labelOf, numberText, placeOf } from '../formats.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { changesOf, excerpts, type FileChange, type FileRecord, type Finding, type ImportUse } from './file-changes.js';
import { type Progress, refusedIn } from './import-run.js';
import { MOST_KEPT } from './run-history.js';
import type { Run } from './use-run.js';

const { importing: texts, undo } = TEXTS;

interface RunViewProps {
  readonly resource: Resource;
  readonly run: Run;
  /** Words about something else than a file. */
  readonly words?: Partial<(typeof texts)['findings']> | undefined;
  /** Whether another run follows. */
  readonly isContinued?: boolean;
  /** What comes first. */
  readonly children?: ComponentChildren;
}

/** How far a run is, why it waits or has stopped, and the first records of each kind that it has found. */
export function RunView({ resource, run, words, isContinued = false, children }: RunViewProps): JSX.Element {
  const { attempt, progress, isActive, state } = run;
  const share = progress?.share ?? 0;
  return (
    <div ref={run.place} tabIndex={-1} class="bulk-content">
      {children}
      <Trouble run={run} />
      {attempt && (state.step !== 'done' || isContinued) && (
        <>
          <p class="import-progress">
            <progress max={1} value={share} aria-label={texts.share} />{' '}
            <span>{texts.percent(Math.floor(share * 100))}</span>
          </p>
          <p>{progress ? outcomeOf(run, progress) : isActive && texts.starting}</p>
        </>
      )}
      {attempt && progress && !isActive && !isContinued && <Findings {...{ resource, run, progress, words }} />}
    </div>
  );
}

/** What came of a run, or would come of it, in one sentence. */
export function outcomeOf({ attempt, isCheck }: Pick<Run, 'attempt' | 'isCheck'>, progress: Progress): string {
  const { counted } = texts;
  const { created, changed, unchanged, deleted, earlier } = progress;
  const isUpdate = attempt?.input.use.match !== undefined;
  const counts: [number, string][] = [
    [isUpdate ? created : created + earlier, isCheck ? counted.isNew : counted.created],
    [changed, counted.changed],
    [unchanged, counted.unchanged],
    [deleted, counted.deleted],
    [isUpdate ? earlier : 0, counted.earlier],
    [refusedIn(progress), counted.refused],
  ];
  const shown = counts.filter(([count]) => count > 0).map(([count, what]) => `${numberText(count)} ${what}`);
  return shown.length === 0 ? texts.noRecords : `${shown.join(', ')}.`;
}

/** Why a run waits or has stopped, and what comes before a run that cannot be undone. */
function Trouble({ run }: Pick<RunViewProps, 'run'>): JSX.Element {
  const { state, isCheck, mayResume, unsaved, doubtful } = run;
  const error = state.step === 'stopped' ? state.error : undefined;
  // An invalid record is a result instead.
  const isAboutHeader = error instanceof CatalogueError && error.code === 'validation_failed';
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} title={isAboutHeader ? texts.badHeader : undefined} />}
      {doubtful && (
        <Notice kind="error" title={texts.otherKeyTitle}>
          {texts.otherKey(...doubtful)}
        </Notice>
      )}
      {mayResume && (
        <Notice>
          <p>{isCheck ? texts.checkStopped : texts.stopped}</p>
          <Button kind="primary" onClick={run.resume}>
            {texts.resume}
          </Button>
        </Notice>
      )}
      {state.step === 'waiting' && <Notice>{texts.waiting(state.seconds)}</Notice>}
      {state.step === 'done' && isCheck && unsaved !== undefined && (
        <Notice>
          <p>{undo.tooMany(numberText(unsaved), numberText(MOST_KEPT))}</p>
          <Button onClick={() => void run.saveOldValues()}>{undo.saveOldValues}</Button>
        </Notice>
      )}
    </>
  );
}

interface FindingsProps extends Pick<RunViewProps, 'resource' | 'run' | 'words'> {
  readonly progress: Progress;
}

/** The first records that a run changes, those that somebody else has changed, those that are refused, and new ones. */
function Findings({ resource, run, progress, words }: FindingsProps): JSX.Element | null {
  const { changes, conflicts, refusals, additions, ofAll } = { ...texts.findings, ...words };
  const { attempt, isCheck } = run;
  if (!attempt) return null;
  const { use } = attempt.input;
  const { findings } = attempt.run;
  const changed = progress.changed + progress.deleted;
  const newer = progress.refused.get('precondition_failed') ?? 0;
  const others = refusedIn(progress) - newer;
  const of = (title: string, found: readonly Finding[], total: number) => ({
    ...{ resource, use, words, findings: found },
    title: ofAll(title, found.length, total),
  });
  return (
    <>
      {isCheck && changed > 0 && <Changes {...of(changes, findings.changed, changed)} />}
      {newer > 0 && <Changes {...of(conflicts, findings.conflicts, newer)} />}
      {others > 0 && <Refusals {...of(refusals, findings.refused, others)} />}
      {isCheck && progress.created > 0 && <Changes {...of(additions, findings.created, progress.created)} />}
    </>
  );
}

interface ChangesProps extends Pick<RunViewProps, 'resource' | 'words'> {
  readonly use: ImportUse;
  readonly title: string;
  readonly findings: readonly Finding[];
}

/**
 * What the service has beside what the file says: each record once, with a row for each field that differs. Of new ones
 * all values, as their pages will show them.
 */
function Changes({ resource, use, title, findings, words }: ChangesProps): JSX.Element {
  const { api } = useConsole();
  const { number, record, field, now, inFile, gone, same } = { ...texts.findings, ...words };
  const { form: fields } = resource;
  const { value, error, reload } = useLoad('', (signal) =>
    changesOf(findings, { collection: api.collection(resource), fields, use }, signal),
  );
  if (error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (!value) return <p class="note">{TEXTS.list.loading}</p>;
  const areNew = findings.every(({ result }) => result.status === 201);
  const others = resource.fields.filter(({ name }) => name !== 'name');
  return (
    <FramedTable title={title} columns={[record, ...(areNew ? [] : [field, now]), inFile]} class="findings">
      {value.map((change) => {
        const { current, finding, next } = change;
        const rows = areNew ? [] : rowsOf(change, fields);
        const heading = (
          <th scope="rowgroup" rowSpan={Math.max(1, rows.length)} data-label={record}>
            {current ? (
              <a
                href={hashOf({ page: 'record', resource: resource.name, id: current.id })}
                target="_blank"
                rel="noopener"
              >
                {String(current['name'] ?? recordName(resource, current))}
              </a>
            ) : (
              String(next['name'] ?? `${number} ${numberText(finding.number)}`)
            )}
          </th>
        );
        if (rows.length === 0)
          return (
            <tr key={finding.number}>
              {heading}
              <td colSpan={areNew ? 1 : 3}>
                {areNew ? <Details record={next} fields={others} /> : current ? same : gone}
              </td>
            </tr>
          );
        return rows.map((row, at) => {
          const [before, after] = excerpts(row.now, row.inFile);
          return (
            <tr key={`${finding.number} ${at}`}>
              {at === 0 && heading}
              <td data-label={field}>{row.label}</td>
              <td data-label={now}>
                <Value {...row} value={before} isWhole />
              </td>
              <td data-label={inFile}>
                <Value {...row} value={after} isWhole />
              </td>
            </tr>
          );
        });
      })}
    </FramedTable>
  );
}

/** The rows of a change: what each is called, both values, and what {@link Value} needs to show them. */
function rowsOf(change: FileChange, fields: readonly Field[]) {
  const { finding, current, version, isDeletion, differences } = change;
  const { result } = finding;
  const { whole, deleted } = texts.findings;
  const versions = result.error ? [{ label: labelOf('version'), now: result.version, inFile: version }] : [];
  if (isDeletion && current) return [...versions, { label: whole, now: current as JsonObject, inFile: deleted }];
  const rows = differences.map((one) => ({ ...shownOf(one, fields), now: one.theirs, inFile: one.yours }));
  return [...versions, ...rows];
}

/** So many characters of a record's text tell which one it is. */
const EXCERPT = 80;

/** The beginning of a record, by which a person knows it: its cells or members that have a value. */
function excerptOf({ text, columns }: FileRecord): string {
  const record = columns ? cellsOf(text) : jsonIn(text);
  const values = Array.isArray(record) ? record : isObject(record as Json) ? Object.values(record as object) : [];
  const shown = values.filter((value) => value !== '' && /^(string|number|boolean)$/.test(typeof value));
  return (shown.join(' · ') || text).slice(0, EXCERPT);
}

/** The refused records, with the reasons. */
function Refusals({ resource, title, findings }: ChangesProps): JSX.Element {
  const { references } = useConsole();
  const { number, record, reason } = texts.findings;
  const reasonFor = ({ error }: Finding['result']) =>
    (error?.details ?? []).map((detail) => {
      const place = 'pointer' in detail && detail.pointer ? `${placeOf(detail.pointer)}: ` : '';
      return `${place}${brokenRule(detail, resource, references)}`;
    });
  return (
    <FramedTable title={title} columns={[number, record, reason]} class="findings">
      {findings.map(({ number: at, record: one, result }) => (
        <tr key={at}>
          <th scope="row" data-label={number}>
            {numberText(at)}
          </th>
          <td data-label={record}>{excerptOf(one)}</td>
          <td data-label={reason}>{reasonFor(result).join(' ') || result.error?.message}</td>
        </tr>
      ))}
    </FramedTable>
  );
}
