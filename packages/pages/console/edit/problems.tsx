import { useLayoutEffect, useRef } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { useConsole } from '../context.js';
import { describeError } from '../describe-error.js';
import { labelOf } from '../formats.js';
import type { Console } from '../types.js';
import type { Messages } from './fields.js';
import type { FormProblem } from './form-model.js';

/** Something that is wrong with what a person typed. */
export interface Problem {
  /** A JSON Pointer; undefined if the problem has no place in the body. */
  readonly pointer: string | undefined;
  readonly message: string;
}

/** Why nothing was saved. Each failed attempt makes a new object, so that it gets the focus again. */
export interface Failed {
  readonly title: string;
  readonly text: string;
  readonly problems: readonly Problem[];
}

/** @param title the title for problems of what was typed, which the person can mend */
export function failedOf(error: unknown, title: string): Failed {
  if (!(error instanceof CatalogueError) || error.details.length === 0)
    return { ...describeError(error), problems: [] };
  const problems = error.details.map((detail) => {
    const pointer = 'pointer' in detail ? detail.pointer : undefined;
    return { pointer, message: sentence(withLabel(detail.message, pointer)) };
  });
  return { title, text: '', problems };
}

export function problemsOf(found: readonly FormProblem[], textOf: Console['texts']['form']['problem']): Problem[] {
  return found.map((one) => ({ pointer: one.pointer, message: textOf(one) }));
}

/** The service begins with the path of the field, such as `items.0.productId`; a person knows it by its label. */
function withLabel(message: string, pointer = ''): string {
  const steps = pointer.split('/').slice(1);
  const path = steps.join('.').replaceAll('~1', '/').replaceAll('~0', '~');
  const name = steps.at(-1) ?? '';
  const isOwn = steps[0] !== 'attributes' && /^[a-z]+$/i.test(name);
  return isOwn && message.startsWith(`${path} `) ? `${labelOf(name)}${message.slice(path.length)}` : message;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, '.');
}

export function messagesOf(problems: readonly Problem[]): Messages {
  const messages = new Map<string, string>();
  for (const { pointer = '', message } of problems)
    messages.set(pointer, [messages.get(pointer), message].filter(Boolean).join(' '));
  return messages;
}

/** All problems above the form, with links to their fields. It gets the focus as soon as it is shown. */
export function ProblemSummary({ failed }: { readonly failed: Failed }) {
  const { form } = useConsole().texts;
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
                  {form.problemAt(pointer, message)}
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
