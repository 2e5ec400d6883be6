import { useId, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Dialog } from '../components/dialog.js';
import { Value } from '../components/value.js';
import { labelOf } from '../formats.js';
import { TEXTS } from '../texts.js';
import { FieldControl } from './fields.js';
import { type Field, type FormProblem, type FormValue, formValue, jsonOf } from './form-model.js';
import { type Json, type JsonObject, member, pointerTo } from './json.js';
import { type Failed, messagesOf, ProblemSummary, problemsOf } from './problems.js';
import { type Difference, differencesOf, mergedRecord, type Side, type ThreeWay } from './three-way.js';

const { conflict: texts, form } = TEXTS;

interface ConflictDialogProps {
  readonly fields: readonly Field[];
  readonly versions: ThreeWay;
  /** Whether it came while the person was choosing. */
  readonly isAgain: boolean;
  /** Why the choice could not be saved. */
  readonly failed: Failed | undefined;
  readonly isSaving: boolean;
  readonly onSave: (record: JsonObject) => void;
  readonly onClose: () => void;
}

interface Choice {
  readonly side: Side | 'own' | undefined;
  /** What the person typed by hand. */
  readonly own: FormValue;
}

/** Shows what both people wrote beside what it was before. Saving needs a choice for each field that both changed. */
export function ConflictDialog(props: ConflictDialogProps) {
  const { fields, versions, isAgain, failed, isSaving, onSave, onClose } = props;
  const [differences] = useState(() => differencesOf(fields, versions));
  const [choices, setChoices] = useState<readonly Choice[]>(() =>
    differences.map((one) => ({ side: one.changed, own: ownValue(fields, one) })),
  );
  const [problems, setProblems] = useState<readonly FormProblem[]>([]);
  const choose = (at: number, changed: Partial<Choice>) =>
    setChoices(choices.map((one, place) => (place === at ? { ...one, ...changed } : one)));
  const chooseAll = (side: Side) => setChoices(choices.map((one) => ({ ...one, side })));
  const save = (event: Event) => {
    event.preventDefault();
    const found: FormProblem[] = [];
    const chosen = differences.map((one, at) => ({
      path: one.path,
      value: chosenValue(one, choices[at], found),
    }));
    setProblems(found);
    if (found.length === 0) onSave(mergedRecord(versions.theirs, chosen));
  };
  const chosenValue = (one: Difference, choice: Choice | undefined, found: FormProblem[]) => {
    if (choice?.side !== 'own') return choice?.side && one[choice.side];
    const [name, key] = one.path;
    const value = jsonOf(fieldNamed(fields, name), choice.own, pointerTo(name), found);
    return key === undefined ? value : member(value, key);
  };
  return (
    <Dialog title={isAgain ? texts.again : texts.title} onClose={onClose} isWide>
      <form onSubmit={save} class="conflict">
        <p>{texts.intro}</p>
        {failed && <ProblemSummary failed={failed} />}
        <p class="actions">
          <Button onClick={() => chooseAll('yours')}>{texts.allYours}</Button>
          <Button onClick={() => chooseAll('theirs')}>{texts.allTheirs}</Button>
        </p>
        {differences.map((one, at) => (
          <DifferenceControl
            key={one.path.join('\n')}
            field={fieldNamed(fields, one.path[0])}
            difference={one}
            choice={choices[at] as Choice}
            problems={problems}
            onChange={(changed) => choose(at, changed)}
          />
        ))}
        <p class="actions">
          <Button submit kind="primary" busy={isSaving}>
            {isSaving ? form.saving : texts.save}
          </Button>
          <Button onClick={onClose}>{texts.back}</Button>
        </p>
      </form>
    </Dialog>
  );
}

interface DifferenceProps {
  readonly field: Field;
  readonly difference: Difference;
  readonly choice: Choice;
  readonly problems: readonly FormProblem[];
  readonly onChange: (changed: Partial<Choice>) => void;
}

function DifferenceControl({ field, difference, choice, problems, onChange }: DifferenceProps) {
  const label = labelOf(field.name);
  const [name, key] = difference.path;
  const shown = key === undefined ? field : undefined;
  const id = useId();
  const radio = (side: Side | 'own') => (
    <label class="check" for={`${id}-${side}`}>
      <input
        id={`${id}-${side}`}
        type="radio"
        name={id}
        required
        aria-describedby={side === 'own' ? undefined : `${id}-${side}-value`}
        checked={choice.side === side}
        onChange={() => onChange({ side })}
      />{' '}
      {texts[side]}
    </label>
  );
  const hasType = key !== undefined && typeof difference.yours !== typeof difference.theirs;
  return (
    <fieldset class="group difference">
      <legend>{key === undefined ? label : texts.attribute(label, key)}</legend>
      <p class="hint">{difference.changed ? texts.changedBy[difference.changed] : texts.changedByBoth}</p>
      <div class="sides">
        <div class="side">
          <p class="check">{texts.base}</p>
          <Value value={difference.base} field={shown} {...{ hasType }} isWhole />
        </div>
        {(['yours', 'theirs'] as const).map((side) => (
          <div class="side" key={side}>
            {radio(side)}
            <div id={`${id}-${side}-value`}>
              <Value value={difference[side]} field={shown} {...{ hasType }} isWhole />
            </div>
          </div>
        ))}
      </div>
      {radio('own')}
      {choice.side === 'own' && (
        <FieldControl
          field={field}
          pointer={pointerTo(name)}
          value={choice.own}
          messages={messagesOf(problemsOf(problems))}
          onChange={(own) => onChange({ own })}
          fixedKey={key}
        />
      )}
    </fieldset>
  );
}

/** What a person starts with who edits by hand: the own value, or the other one if the own one is none. */
function ownValue(fields: readonly Field[], { path: [name, key], yours, theirs }: Difference): FormValue {
  const value: Json = yours ?? theirs ?? '';
  const field = fieldNamed(fields, name);
  return formValue(field, key === undefined ? value : Object.fromEntries([[key, value]]));
}

function fieldNamed(fields: readonly Field[], name: string): Field {
  const found = fields.find((field) => field.name === name);
  if (!found) throw new Error(`No field ${name}`);
  return found;
}
