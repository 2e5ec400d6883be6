import type { JSX } from 'preact';
import { useConsole } from '../context.js';
import { numberText } from '../formats.js';
import type { Progress } from './import-run.js';

export interface ImportCountsProps {
  readonly progress: Progress;
  readonly isUpdate: boolean;
  readonly isCheck: boolean;
  readonly isDone: boolean;
}

/** How far an import or its check is, and what became of the records so far. */
export function ImportCounts({ progress, isUpdate, isCheck, isDone }: ImportCountsProps): JSX.Element {
  const { importing: texts } = useConsole().texts;
  const { done, total, created, changed, unchanged, deleted, earlier, refused } = progress;
  const share = total === 0 || isDone ? 1 : done / total;
  return (
    <>
      <p class="import-progress">
        <progress max={1} value={share} aria-label={texts.share} />{' '}
        <span>{texts.percent(Math.floor(share * 100))}</span>
      </p>
      <table class="import-counts">
        <caption>{isCheck ? texts.expected : texts.results}</caption>
        <tbody>
          <Row name={isCheck ? texts.isNew : texts.created} count={created} />
          {isUpdate && (
            <>
              <Row name={texts.changed} count={changed} />
              <Row name={texts.unchanged} count={unchanged} />
              <Row name={texts.deleted} count={deleted} />
            </>
          )}
          {earlier > 0 && <Row name={isUpdate ? texts.doneEarlier : texts.createdEarlier} count={earlier} />}
          {[...refused].map(([code, count]) => (
            <Row
              key={code}
              name={code === 'precondition_failed' ? texts.conflict : texts.refused(code)}
              count={count}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({ name, count }: { readonly name: string; readonly count: number }): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{numberText(count)}</td>
    </tr>
  );
}
