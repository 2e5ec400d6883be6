import type { ComponentChildren, JSX } from 'preact';
import { describeError } from '../describe-error.js';
import { TEXTS } from '../texts.js';
import { Button } from './button.js';

interface NoticeProps {
  readonly kind?: 'info' | 'success' | 'error';
  readonly title?: string | undefined;
  /** A text alone is a paragraph. */
  readonly children?: ComponentChildren;
}

/** A message in the page. A screen reader reads it when it appears. */
export function Notice({ kind = 'info', title, children }: NoticeProps): JSX.Element {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {title !== undefined && <p class="notice-title">{title}</p>}
      {typeof children === 'string' ? <p>{children}</p> : children}
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

interface SinceProps {
  /** What somebody else did since the record was read; empty if nothing. */
  readonly text: string;
  /** A button. */
  readonly children?: ComponentChildren;
}

/** What changed below the page, without moving what the person reads or writes. */
export function Since({ text, children }: SinceProps): JSX.Element {
  return (
    <div class="since" role="status">
      {text !== '' && (
        <div class="notice">
          <p>{text}</p>
          {children}
        </div>
      )}
    </div>
  );
}
