import type { JSX } from 'preact';
import { cellsOf } from '#src/shared/record-splitters.js';
import { FramedTable } from '../components/framed-table.js';
import { ErrorNotice } from '../components/notice.js';
import { Value } from '../components/value.js';
import { useConsole } from '../context.js';
import { recordName } from '../deletions.js';
import type { Field } from '../edit/form-model.js';
import type { Json, JsonObject } from '../edit/json.js';
import { labelOf, numberText } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { reasonOf } from './failed-records.js';
import { changesOf, excerpts, type FileChange, type FileRecord, type Finding, type ImportUse } from './file-changes.js';
import { refusedIn } from './import-run.js';
import type { Run } from './use-run.js';

/** So many characters of a record's text tell which one it is. */
const EXCERPT = 80;

export interface RunFindingsProps {
  readonly resource: Resource;
  readonly run: Run;
  /** Words about something else than a file. */
  readonly words?: Partial<(typeof TEXTS)['importing']['findings']> | undefined;
}

/** The first records that a run changes, those that somebody else has changed, and those that are refused. */
export function RunFindings({ resource, run, words }: RunFindingsProps): JSX.Element | null {
  const { changes, conflicts, refusals, ofAll } = { ...TEXTS.importing.findings, ...words };
  const { attempt, progress, isActive, isCheck } = run;
  if (!attempt || !progress || isActive) return null;
  const { use } = attempt.input;
  const { findings } = attempt.run;
  const changed = progress.changed + progress.deleted;
  const newer = progress.refused.get('precondition_failed') ?? 0;
  const others = refusedIn(progress) - newer;
  const titled = (title: string, found: readonly Finding[], total: number) => ({
    title: ofAll(title, found.length, total),
    findings: found,
  });
  return (
    <>
      {isCheck && changed > 0 && (
        <Changes {...{ resource, use, words, ...titled(changes, findings.changed, changed) }} />
      )}
      {newer > 0 && <Changes {...{ resource, use, words, ...titled(conflicts, findings.conflicts, newer) }} />}
      {others > 0 && <Refusals {...titled(refusals, findings.refused, others)} />}
    </>
  );
}

interface ChangesProps extends Omit<RunFindingsProps, 'run'> {
  readonly use: ImportUse;
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** What the service has beside what the file says, a row for each field that differs. */
function Changes({ resource, use, title, findings, words }: ChangesProps): JSX.Element {
  const { api } = useConsole();
  const { record, field, now, inFile, named, gone, same } = { ...TEXTS.importing.findings, ...words };
  const { form: fields } = resource;
  const nameOf = (current: CatalogueRecord) =>
    'name' in current ? named(recordName(resource, current), current.id) : recordName(resource, current);
  const loaded = useLoad('', (signal) =>
    changesOf(findings, { collection: api.collection(resource), fields, use }, signal),
  );
  if (loaded.error !== undefined) return <ErrorNotice error={loaded.error} onRetry={loaded.reload} />;
  if (!loaded.value) return <p class="note">{TEXTS.list.loading}</p>;
  return (
    <FramedTable title={title} columns={[record, field, now, inFile]} class="findings">
      {loaded.value.map((change) => {
        const { current, finding } = change;
        const heading = (
          <th scope="row" data-label={record}>
            {current ? nameOf(current) : excerptOf(finding.record)}
          </th>
        );
        const rows = rowsOf(change, fields);
        if (rows.length === 0)
          return (
            <tr key={finding.number}>
              {heading}
              <td colSpan={3}>{current ? same : gone}</td>
            </tr>
          );
        return rows.map((row, at) => {
          const [before, after] = excerpts(row.now, row.inFile);
          return (
            <tr key={`${finding.number} ${at}`}>
              {heading}
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

interface ChangeRow {
  readonly label: string;
  readonly now: Json | undefined;
  readonly inFile: Json | undefined;
  /** Whether a text must be told from a number that looks alike. */
  readonly hasType: boolean;
  /** Absent: it is the value of no field alone. */
  readonly field?: Field | undefined;
}

function rowsOf(
  { finding: { result }, current, version, isDeletion, differences }: FileChange,
  fields: readonly Field[],
): ChangeRow[] {
  const { findings } = TEXTS.importing;
  const row = (label: string, now: Json | undefined, inFile: Json | undefined, hasType = false) => {
    return { label, now, inFile, hasType };
  };
  const versions = result.error ? [row(labelOf('version'), result.version, version)] : [];
  if (isDeletion && current) return [...versions, row(findings.whole, current as JsonObject, findings.deleted)];
  const rows = differences.map(({ path: [name, key], theirs, yours }) => {
    if (key === undefined)
      return { ...row(labelOf(name), theirs, yours), field: fields.find((field) => field.name === name) };
    const hasType = ![theirs, yours].includes(undefined) && typeof theirs !== typeof yours;
    return row(TEXTS.conflict.attribute(labelOf(name), key), theirs, yours, hasType);
  });
  return [...versions, ...rows];
}

/** The beginning of a record, by which a person knows it: of CSV the cells that have a value. */
function excerptOf({ text, columns }: FileRecord): string {
  const cells = columns && cellsOf(text)?.filter((cell) => cell !== undefined && cell !== '');
  return (cells?.join(' · ') ?? text).slice(0, EXCERPT);
}

/** The refused records, with the reasons. */
function Refusals({ title, findings }: Pick<ChangesProps, 'title' | 'findings'>): JSX.Element {
  const { number, record, reason } = TEXTS.importing.findings;
  return (
    <FramedTable title={title} columns={[number, record, reason]} class="findings">
      {findings.map((finding) => (
        <tr key={finding.number}>
          <th scope="row" data-label={number}>
            {numberText(finding.number)}
          </th>
          <td data-label={record}>{excerptOf(finding.record)}</td>
          <td data-label={reason}>{finding.result.error && reasonOf(finding.result.error)}</td>
        </tr>
      ))}
    </FramedTable>
  );
}
