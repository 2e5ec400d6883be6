import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact';

export interface ButtonProps extends Omit<ButtonHTMLAttributes, 'type' | 'disabled' | 'class'> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'link';
  readonly submit?: boolean;
  readonly disabled?: boolean;
  /** While it is busy the button keeps the focus and its size, and does nothing. */
  readonly busy?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Button({
  kind = 'plain',
  submit = false,
  busy = false,
  class: className = '',
  onClick,
  children,
  ...rest
}: ButtonProps): JSX.Element {
  return (
    <button
      {...rest}
      type={submit ? 'submit' : 'button'}
      class={`${kind} ${className}`}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  );
}
