import type { ComponentChildren, JSX } from 'preact';
import { TEXTS } from '../texts.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

interface QuestionProps {
  readonly title: string;
  /** Of the button that does it. */
  readonly label: string;
  readonly isBusy: boolean;
  readonly children: ComponentChildren;
  onAnswer(): void;
  onClose(): void;
}

/** A dialog that asks before something that cannot be undone. */
export function Question({ title, label, isBusy, children, onAnswer, onClose }: QuestionProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="actions">
        <Button onClick={onClose}>{TEXTS.keys.cancel}</Button>
        <Button kind="danger" busy={isBusy} onClick={onAnswer}>
          {label}
        </Button>
      </div>
    </Dialog>
  );
}
