import { useLayoutEffect, useRef } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import type { References } from '../../docs/references.js';
import { Button } from '../components/button.js';
import { brokenRule, describeError } from '../describe-error.js';
import { placeOf } from '../field-words.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
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

/** Why a form was not saved: what is wrong with each of its fields, if the service says so. */
export function failedOf(error: unknown, resource: Resource, references: References): Failed {
  if (!(error instanceof CatalogueError) || error.details.length === 0)
    return { ...describeError(error), problems: [] };
  const problems = error.details.map((detail) => {
    const pointer = 'pointer' in detail ? detail.pointer : undefined;
    return { pointer, message: brokenRule(detail, resource, references) };
  });
  return { title: TEXTS.form.problemsTitle, text: '', problems };
}

export function problemsOf(found: readonly FormProblem[]): Problem[] {
  return found.map((one) => ({ pointer: one.pointer, message: TEXTS.form.problem(one) }));
}

export function messagesOf(problems: readonly Problem[]): Messages {
  const messages = new Map<string, string>();
  for (const { pointer = '', message } of problems)
    messages.set(pointer, [messages.get(pointer), message].filter(Boolean).join(' '));
  return messages;
}

/** All problems above the form, with links to their fields. It gets the focus as soon as it is shown. */
export function ProblemSummary({ failed }: { readonly failed: Failed }) {
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
