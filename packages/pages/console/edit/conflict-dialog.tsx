import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Dialog } from '../components/dialog.js';
import { Notice } from '../components/notice.js';
import { Value } from '../components/value.js';
import { TEXTS } from '../texts.js';
import type { ErrorText } from '../types.js';
import type { Field } from './form-model.js';
import type { JsonObject } from './json.js';
import { type Difference, differencesOf, mergedRecord, type Side, shownOf, type ThreeWay } from './three-way.js';

const { conflict: texts, form } = TEXTS;
const SIDES = ['yours', 'theirs'] as const;

export interface Conflict {
  readonly versions: ThreeWay;
  /** Whether it came while the person was choosing. */
  readonly isAgain: boolean;
}

interface ConflictDialogProps extends Conflict {
  readonly fields: readonly Field[];
  /** Why the choice could not be saved. */
  readonly failed: ErrorText | undefined;
  readonly isSaving: boolean;
  onSave(record: JsonObject): void;
  /** Shows the choice in the form, to write something else. */
  onEdit(record: JsonObject): void;
  onClose(): void;
}

/**
 * Shows what both people wrote beside what it was before, first the fields that both changed: each of them needs a
 * choice.
 */
export function ConflictDialog(props: ConflictDialogProps): JSX.Element {
  const { fields, versions, isAgain, failed, isSaving, onSave, onEdit, onClose } = props;
  const [differences] = useState(() =>
    differencesOf(fields, versions).sort((one, other) => Number(!!one.changed) - Number(!!other.changed)),
  );
  const [sides, setSides] = useState(() => differences.map(({ changed }) => changed));
  const finish = (use: (record: JsonObject) => void) => {
    const chosen = differences.map((one, at) => ({ path: one.path, value: one[sides[at] ?? 'yours'] }));
    use(mergedRecord(versions.theirs, chosen));
  };
  return (
    <Dialog title={isAgain ? texts.again : texts.title} onClose={onClose} isWide>
      <form
        class="conflict"
        onSubmit={(event) => {
          event.preventDefault();
          finish(onSave);
        }}
      >
        <p>{texts.intro}</p>
        {failed && (
          <Notice kind="error" title={failed.title}>
            {failed.text}
          </Notice>
        )}
        <p class="actions">
          {SIDES.map((side) => (
            <Button key={side} onClick={() => setSides(sides.map(() => side))}>
              {texts.all[side]}
            </Button>
          ))}
        </p>
        {differences.map((one, at) => (
          <DifferenceChoice
            key={one.path.join('\n')}
            {...{ fields }}
            difference={one}
            chosen={sides[at]}
            onChoose={(side) => setSides(sides.map((old, place) => (place === at ? side : old)))}
          />
        ))}
        <p class="actions">
          <Button onClick={onClose}>{form.cancel}</Button>
          <Button onClick={({ currentTarget }) => currentTarget.form?.reportValidity() && finish(onEdit)}>
            {texts.edit}
          </Button>
          <Button submit kind="primary" busy={isSaving}>
            {isSaving ? form.saving : texts.save}
          </Button>
        </p>
      </form>
    </Dialog>
  );
}

interface DifferenceProps {
  readonly fields: readonly Field[];
  readonly difference: Difference;
  readonly chosen: Side | undefined;
  onChoose(side: Side): void;
}

function DifferenceChoice({ fields, difference, chosen, onChoose }: DifferenceProps): JSX.Element {
  const id = useId();
  const { base, changed } = difference;
  const { label, ...shown } = shownOf(difference, fields);
  return (
    <fieldset class="difference">
      <legend>{label}</legend>
      <p class="hint">{changed ? texts.changedBy[changed] : texts.changedByBoth}</p>
      <div class="sides">
        <div class="side">
          <div class="check">{texts.base}</div>
          <Value value={base} {...shown} isWhole />
        </div>
        {SIDES.map((side) => (
          <div class="side" key={side}>
            <label class="check">
              <input
                type="radio"
                name={id}
                required
                aria-describedby={`${id}-${side}`}
                checked={chosen === side}
                onChange={() => onChoose(side)}
              />{' '}
              {texts[side]}
            </label>
            <div id={`${id}-${side}`}>
              <Value value={difference[side]} {...shown} isWhole />
            </div>
          </div>
        ))}
      </div>
    </fieldset>
  );
}
