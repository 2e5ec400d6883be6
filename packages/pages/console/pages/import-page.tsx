import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { Radios } from '../components/field.js';
import { Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { decimalMark, labelOf } from '../formats.js';
import { randomKey } from '../random-key.js';
import { hashOfList } from '../router.js';
import { TEXTS } from '../texts.js';
import { templateColumns } from '../transfer/columns.js';
import { ColumnsStep } from '../transfer/columns-step.js';
import { EXISTING, type ImportUse } from '../transfer/file-changes.js';
import { formatOfFile, formatsOf, saveFile } from '../transfer/files.js';
import { hasEffect, refusedIn } from '../transfer/import-run.js';
import { BYTE_ORDER_MARK, csvRow } from '../transfer/reading.js';
import { outcomeOf, RunView } from '../transfer/run-view.js';
import { type ChosenFile, useFile } from '../transfer/use-file.js';
import { type Run, useRun } from '../transfer/use-run.js';
import type { Resource, ResourcePageProps } from '../types.js';

const { importing: texts } = TEXTS;

/** Imports a file, and shows what became of its records. */
export function ImportPage({ resource: described }: ResourcePageProps): JSX.Element {
  const { api } = useConsole();
  // What an update and a check tell about records needs the scope that reads them.
  const resource = api.mayRead(described) ? described : { ...described, importMatches: [] };
  const file = useFile(resource);
  const { chosen } = file;
  /** Random, so that nothing of a file is added twice. */
  const [key, setKey] = useState('');
  /** What the person chose. */
  const [wanted, setWanted] = useState<ImportUse>();
  const run = useRun(resource);
  const { state, progress, attempt, isCheck, isActive, mayResume } = run;
  const hasValue = (key: string) => chosen?.records.some(({ values }) => values?.[key] !== undefined) ?? false;
  const matches = resource.importMatches.filter((one) => chosen?.rows?.columns.includes(one) ?? hasValue(one));
  const isOffered = wanted && [undefined, ...matches].includes(wanted.match);
  // The last one is the ID.
  const use: ImportUse = isOffered ? wanted : { match: matches.filter(hasValue).at(-1), existing: 'merge' };
  const isReady = state.step === 'ready';
  const isUnfinished = !isCheck && (isActive || mayResume);
  const isUpdate = use.match !== undefined;
  const mayCheck = resource.importMatches.length > 0;
  const mayStart = isReady ? !isUpdate : isCheck && state.step === 'done' && hasEffect(progress);

  /** The sort that has what was imported first. */
  const newest = resource.fields.some(({ sort }) => sort === 'updatedAt') ? '-updatedAt' : '-id';
  const begin = ({ file: one, rows }: ChosenFile, isCheck: boolean) => {
    file.remember();
    run.begin({ file: one, use, isCheck, key, rows });
  };
  if (!api.mayWrite(resource) || resource.importTypes.length === 0)
    return (
      <>
        <h1>{texts.title(resource.title)}</h1>
        <Notice kind="error">{resource.importTypes.length === 0 ? texts.none(resource.title) : texts.forbidden}</Notice>
      </>
    );
  return (
    <div class="import">
      <UnsavedGuard isDirty={isUnfinished} words={texts.leaving} />
      <Breadcrumb resource={resource} />
      <h1>{texts.title(resource.title)}</h1>
      {!chosen && (
        <FileChooser
          resource={resource}
          onChoose={(one) => {
            setWanted(undefined);
            setKey(randomKey());
            void file.choose(one);
          }}
        />
      )}
      {chosen && (
        <>
          <p>
            <strong>{chosen.file.name}</strong> ({TEXTS.exporting.size(chosen.file.size)})
            {!isReady && mayCheck && ` · ${wordsFor(use)}`}{' '}
            {!isReady && !isActive && !isUnfinished && (
              <Button kind="link" onClick={run.reset}>
                {texts.change}
              </Button>
            )}
          </p>
          {isReady ? (
            <>
              {mayCheck && (
                <UseChooser {...{ resource, matches, use }} isCsv={chosen.rows !== undefined} onChoose={setWanted} />
              )}
              <ColumnsStep {...{ file, chosen, isUpdate }} fields={resource.form} />
            </>
          ) : (
            <RunView {...{ resource, run }}>
              <Outcome {...{ resource, run }} />
            </RunView>
          )}
          <div class="save-bar">
            <div class="actions">
              {mayStart && run.unsaved === undefined && (
                <Button kind="primary" onClick={() => begin(chosen, false)}>
                  {texts.start}
                </Button>
              )}
              {isReady && mayCheck && (
                <Button kind={isUpdate ? 'primary' : 'plain'} onClick={() => begin(chosen, true)}>
                  {texts.check}
                </Button>
              )}
              {isActive && <Button onClick={run.stop}>{texts.cancel}</Button>}
              {attempt && refusedIn(progress) > 0 && (
                <Button onClick={() => saveFile(attempt.run.refusedFile)}>{texts.download(refusedIn(progress))}</Button>
              )}
              {!isActive && (
                <Button
                  onClick={() => {
                    file.forget();
                    run.reset();
                  }}
                >
                  {texts.another}
                </Button>
              )}
              {state.step === 'done' && !isCheck && (
                <a href={hashOfList(resource.name, { sort: newest })}>{texts.toList(resource.title)}</a>
              )}
            </div>
          </div>
        </>
      )}
    </div>
  );
}

interface FileChooserProps {
  readonly resource: Resource;
  onChoose(file: File): void;
}

/** A file, by a dialog or dropped anywhere on the page, which the browser does; or an empty one to fill in. */
function FileChooser({ resource, onChoose }: FileChooserProps): JSX.Element {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const [refused, setRefused] = useState<string>();
  useEffect(() => {
    const show = ({ dataTransfer }: DragEvent) => setOver(dataTransfer?.types.includes('Files') ?? false);
    addEventListener('dragenter', show);
    return () => removeEventListener('dragenter', show);
  }, []);
  const formats = formatsOf(resource.importTypes);
  const hasCsv = formats.some(({ isCsv }) => isCsv);
  const take = ([file]: FileList | []) => {
    const isKnown = file && formats.some((one) => one === formatOfFile(file));
    setRefused(isKnown ? undefined : file?.name);
    if (isKnown) onChoose(file);
  };
  const saveTemplate = () => {
    const header = csvRow(templateColumns(resource.form), decimalMark() === ',' ? ';' : ',');
    saveFile(new File([BYTE_ORDER_MARK, header, '\r\n'], `${resource.name}-template.csv`, { type: 'text/csv' }));
  };
  const names = formats.map(({ name, extensions }) => `${name} (${extensions.join(', ')})`).join(' or ');
  return (
    <>
      <div class="drop">
        <input
          id={id}
          type="file"
          class={isOver ? 'over' : ''}
          onDragLeave={() => setOver(false)}
          onDrop={() => setOver(false)}
          aria-describedby={`${id}-hint`}
          accept={formats.flatMap(({ extensions }) => extensions).join(',')}
          onChange={({ currentTarget }) => take(currentTarget.files ?? [])}
        />
        <p class="actions">
          <label for={id} class="button primary">
            {texts.file}
          </label>
          <span class="on-wide">{texts.drop}</span>
        </p>
        <p class="hint" id={`${id}-hint`}>
          {names}
          <br />
          {hasCsv ? texts.hint : texts.ndjsonHint}
        </p>
      </div>
      {refused !== undefined && <Notice kind="error">{texts.wrongFormat(refused, names)}</Notice>}
      {hasCsv && (
        <p>
          <Button kind="link" onClick={saveTemplate}>
            {texts.template}
          </Button>
        </p>
      )}
    </>
  );
}

interface UseChooserProps {
  readonly resource: Resource;
  /** The keys for updates that the file has. */
  readonly matches: readonly string[];
  readonly use: ImportUse;
  readonly isCsv: boolean;
  onChoose(use: ImportUse): void;
}

/** Whether a file only adds records or updates them, by which key, and how. */
function UseChooser({ resource, matches, use, isCsv, onChoose }: UseChooserProps): JSX.Element {
  if (matches.length === 0) return <p>{texts.addOnly(resource.importMatches.map(keyName).join(' or '))}</p>;
  const unique = matches.find((match) => match !== 'id');
  // An ID that nobody has is refused, so nothing would be left to do.
  const ways = EXISTING.filter((way) => way !== 'skip' || use.match !== 'id');
  return (
    <div class="uses">
      <Radios
        legend={texts.use}
        chosen={use.match}
        options={[
          [undefined, texts.add, unique && texts.addHint(keyName(unique))],
          ...matches.map(
            (match) => [match, texts.update(keyName(match)), texts.updateHint(keyName(match), match === 'id')] as const,
          ),
        ]}
        onChoose={(match) => onChoose({ match, existing: 'merge' })}
      />
      {use.match !== undefined && (
        <Radios
          legend={texts.existing}
          chosen={use.existing}
          options={ways.map((way) => [way, texts.ways[way], texts.wayHints[way](isCsv)])}
          onChoose={(existing) => onChoose({ ...use, existing })}
        />
      )}
    </div>
  );
}

/** What came of a run that is done, or would come of it. */
function Outcome({ resource, run }: { readonly resource: Resource; readonly run: Run }): JSX.Element | null {
  const { attempt, progress, isCheck, state } = run;
  if (!attempt || !progress || state.step !== 'done') return null;
  const { unchanged, refused } = progress;
  const unique = resource.importMatches.find((match) => match !== 'id');
  const isTaken = attempt.input.use.match === undefined && refused.has('duplicate_value');
  const isGood = refused.size === 0 && !isCheck;
  return (
    <Notice kind={isGood ? 'success' : 'info'} title={isCheck ? texts.checkTitle : texts.doneTitle}>
      <p>{outcomeOf(run, progress)}</p>
      {isCheck && unchanged > 0 && !hasEffect(progress) && <p>{texts.noChange}</p>}
      {isTaken && unique && <p>{texts.takenHint(keyName(unique))}</p>}
    </Notice>
  );
}

function wordsFor({ match, existing }: ImportUse): string {
  return match === undefined ? texts.add : `${texts.update(keyName(match))} · ${texts.ways[existing]}`;
}

/** A key in a sentence: `SKU`, `ID`, `email`. */
function keyName(match: string): string {
  const label = labelOf(match);
  return label === match.toUpperCase() ? label : label.toLowerCase();
}
