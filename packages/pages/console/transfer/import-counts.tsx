import type { JSX } from 'preact';
import { useConsole } from '../context.js';
import { numberText } from '../formats.js';
import type { Progress } from './import-run.js';

interface ImportCountsProps {
  readonly progress: Progress;
  readonly isDone: boolean;
}

/** How far an import is, and what became of the records so far. */
export function ImportCounts({ progress, isDone }: ImportCountsProps): JSX.Element {
  const { texts } = useConsole();
  const { done, total, created, existing, refused } = progress;
  const share = total === 0 || isDone ? 1 : done / total;
  return (
    <>
      <p class="import-progress">
        <progress max={1} value={share} aria-label={texts.importing.share} />{' '}
        <span>{texts.importing.percent(Math.floor(share * 100))}</span>
      </p>
      <table class="import-counts">
        <caption>{texts.importing.results}</caption>
        <tbody>
          <Row name={texts.importing.created} count={created} />
          {existing > 0 && <Row name={texts.importing.existing} count={existing} />}
          {[...refused].map(([code, count]) => (
            <Row key={code} name={texts.importing.refused(code)} count={count} />
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
