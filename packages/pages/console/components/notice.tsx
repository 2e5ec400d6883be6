import type { ComponentChildren, JSX } from 'preact';
import { describeError } from '../describe-error.js';
import { TEXTS } from '../texts.js';
import { Button } from './button.js';

export interface NoticeProps {
  readonly kind?: 'info' | 'success' | 'error';
  readonly title?: string | undefined;
  readonly children?: ComponentChildren;
}

/** A message in the page. A screen reader reads it when it appears. */
export function Notice({ kind = 'info', title, children }: NoticeProps): JSX.Element {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {title !== undefined && <p class="notice-title">{title}</p>}
      {children}
    </div>
  );
}

interface ErrorNoticeProps {
  readonly error: unknown;
  /** Instead of the general title of such errors. */
  readonly title?: string | undefined;
  readonly onRetry?: (() => void) | undefined;
}

/** An error in words, with a button to try again. */
export function ErrorNotice({ error, title, onRetry }: ErrorNoticeProps): JSX.Element {
  const described = describeError(error);
  return (
    <Notice kind="error" title={title ?? described.title}>
      <p>{described.text}</p>
      {onRetry && <Button onClick={onRetry}>{TEXTS.errors.retry}</Button>}
    </Notice>
  );
}
