import { amountOf } from '#src/domain/money.js';
import {
  type ChipsField,
  type ChipsValue,
  type Field,
  type FormValue,
  formValue,
  jsonOf,
  withTyped,
} from '../edit/form-model.js';
import { isSame, type Json } from '../edit/json.js';
import { decimalsIn, isPrice, type NumberProblem, typedAmount, typedNumber } from '../formats.js';
import type { CatalogueRecord, Resource } from '../types.js';

/** What can be done to a field of many records at once. */
export interface BulkAction {
  readonly kind: 'add' | 'remove' | 'set' | 'price';
  readonly field: Field;
}

/** An action with what the person typed for it. */
export interface BulkChange {
  readonly action: BulkAction;
  readonly value: FormValue;
  /** Whether a price changes by so many per cent, not to an amount. */
  readonly isPercent: boolean;
}

/** Why a change leaves a record as it is. */
export type Skipped = 'noPrice' | 'otherCurrency';

/** The value that a field gets, of which null is none; or why it stays. */
type Edit = (now: Json | undefined, skip: (why: Skipped) => undefined) => Json | undefined;

/** The actions that make sense for many records: those on lists of texts, choices, prices, numbers and shared texts. */
export function actionsOf(resource: Resource): readonly BulkAction[] {
  const isShared = ({ name }: Field) =>
    resource.facets.includes(name) && resource.fields.find((one) => one.name === name)?.meaning === undefined;
  return resource.form.flatMap((field): BulkAction[] => {
    if (field.kind === 'chips')
      return [
        { kind: 'add', field },
        { kind: 'remove', field },
      ];
    if (field.kind === 'price') return [{ kind: 'price', field }];
    const isReference = /Id$/.test(field.name);
    const isSet =
      field.kind === 'choice' ||
      (field.kind === 'number' && !isReference) ||
      (field.kind === 'text' && isShared(field));
    return isSet ? [{ kind: 'set', field }] : [];
  });
}

export function newChange(action: BulkAction): BulkChange {
  return { action, value: action.kind === 'price' ? '' : formValue(action.field, undefined), isPercent: true };
}

export type ChangeProblem = NumberProblem | { readonly code: 'missing' };

/** Reads what the person typed. */
export function editOf({ action: { kind, field }, value, isPercent }: BulkChange): Edit | ChangeProblem {
  if (kind === 'price') return isPercent ? byPercent(String(value)) : toAmount(String(value));
  if (kind === 'set') {
    const problems: NumberProblem[] = [];
    const json = jsonOf(field, value, '', problems as never[]);
    if (problems[0]) return problems[0];
    return json === undefined && field.kind !== 'choice' ? { code: 'missing' } : () => json ?? null;
  }
  const texts = withTyped(value as ChipsValue, field as ChipsField);
  if (texts.length === 0) return { code: 'missing' };
  return (now) => {
    const before = Array.isArray(now) ? now.map(String) : [];
    const others = before.filter((one) => !texts.includes(one));
    if (kind === 'add') return [...before, ...texts.filter((one) => !before.includes(one))];
    return others.length === 0 ? null : others;
  };
}

/** A hundred per cent, as millionths of one per cent. */
const WHOLE = 100_000_000n;

/** Amounts are rounded half away from zero to the smallest unit. */
function byPercent(text: string): Edit | ChangeProblem {
  if (text.trim() === '') return { code: 'missing' };
  const percent = typedNumber(text.replace(/%\s*$/, '').replace(/^\s*\+/, ''));
  if (typeof percent !== 'number') return percent;
  if (percent < -100) return { code: 'not_a_number' };
  const factor = WHOLE + BigInt(Math.round(percent * 1_000_000));
  return (now, skip) => {
    if (!isPrice(now)) return skip('noPrice');
    const amount = Number((2n * BigInt(now.amount) * factor + WHOLE) / (2n * WHOLE));
    return { amount, currency: now.currency };
  };
}

/** An amount in the currency that the record has. */
function toAmount(text: string): Edit | ChangeProblem {
  if (text.trim() === '') return { code: 'missing' };
  const readings = decimalsIn(text);
  // A currency without decimal places could refuse what another one takes.
  const [decimal = ''] = readings;
  if (readings.length !== 1 || decimal.startsWith('-')) {
    const problem = typedAmount(text, '');
    return typeof problem === 'number' ? { code: 'not_a_price', currency: '' } : problem;
  }
  return (now, skip) => {
    if (!isPrice(now)) return skip('noPrice');
    const amount = amountOf(decimal, now.currency);
    return amount === undefined ? skip('otherCurrency') : { amount, currency: now.currency };
  };
}

/** The members of a merge patch that makes these changes to a record, without those that it has already. */
export function patchOf(
  record: CatalogueRecord,
  edits: readonly { readonly name: string; readonly edit: Edit }[],
  skip: (why: Skipped) => void,
): Readonly<Record<string, Json>> {
  const patch = new Map<string, Json>();
  for (const { name, edit } of edits) {
    const before = (record[name] ?? null) as Json;
    const now = patch.get(name) ?? before;
    const next = edit(now === null ? undefined : now, (why) => void skip(why));
    if (next === undefined) continue;
    if (isSame(next, before)) patch.delete(name);
    else patch.set(name, next);
  }
  return Object.fromEntries(patch);
}
