import type { ComponentChildren, JSX } from 'preact';

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
