import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

interface MenuProps {
  readonly label: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A button that opens a panel over the page. Escape, a click elsewhere, and leaving it by Tab close the panel. */
export function Menu({ label, children }: MenuProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    const leave = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    const listening = new AbortController();
    addEventListener('pointerdown', leave, listening);
    addEventListener('focusin', leave, listening);
    addEventListener('keydown', closeByKey, listening);
    return () => listening.abort();
  }, [isOpen]);
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="plain"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div id={id} class="menu-panel" hidden={!isOpen}>
        {children}
      </div>
    </div>
  );
}
