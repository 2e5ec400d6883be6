import type { JSX } from 'preact';
import { wordsOf } from '../field-words.js';
import { labelOf } from '../formats.js';
import type { Filter } from '../list-query.js';
import { TEXTS } from '../texts.js';
import type { Field, Resource } from '../types.js';
import { Button } from './button.js';

interface ChoiceFiltersProps {
  readonly resource: Resource;
  readonly filters: readonly Filter[];
  onChoose(filters: readonly Filter[]): void;
}

/** The fields that have one of a few values or none. */
export function choiceFields({ fields, filters }: Resource): readonly Field[] {
  const mayLack = (name: string) =>
    filters.find((one) => one.name === name)?.operators.some((one) => one.name === 'exists');
  return fields.filter(({ name, schema }) => schema.enum && mayLack(name));
}

/** Filters of one click, for each of the {@link choiceFields}. */
export function ChoiceFilters({ resource, filters, onChoose }: ChoiceFiltersProps): JSX.Element {
  return (
    <>
      {choiceFields(resource).map(({ name, schema }) => {
        const values = (schema.enum ?? []).map(String);
        const choice = (label: string, operator: string, value: string): [string, readonly Filter[]] => [
          label,
          [{ field: name, key: '', operator, value }],
        ];
        const choices: [string, readonly Filter[]][] = [
          [TEXTS.filters.all, []],
          choice(labelOf(wordsOf(name)?.none ?? TEXTS.form.noValue), 'exists', 'false'),
          ...values.map((value) => choice(TEXTS.filters.several[value] ?? labelOf(value), 'equals', value)),
        ];
        const others = filters.filter(({ field }) => field !== name);
        const chosen = JSON.stringify(filters.filter(({ field }) => field === name));
        return (
          <fieldset key={name} class="choice-filter" aria-label={labelOf(name)}>
            {choices.map(([label, choice]) => (
              <Button
                key={label}
                aria-pressed={JSON.stringify(choice) === chosen}
                onClick={() => onChoose([...others, ...choice])}
              >
                {label}
              </Button>
            ))}
          </fieldset>
        );
      })}
    </>
  );
}
