import { AppError, type Issue, MAX_ISSUES } from '../../domain/errors.js';
import type { FieldTable } from '../../domain/fields.js';
import type { Id, Versioned } from '../../domain/record.js';
import { type Reference, type ReferenceFinder, referenceFinders } from '../../domain/references.js';
import { issueIn } from '../../domain/rules.js';
import type { Repository } from '../ports/repository.js';
import type { Draft } from './record-format.js';

/** A draft, and the record that it changes. */
export interface Candidate<Fields> {
  readonly draft: Draft<Fields>;
  /** Absent for a new record. */
  readonly previous?: Versioned<Fields>;
}

/** Returns the issues of the references that each candidate adds. Fields with issues may have values of any type. */
export type ReferenceValidator<Fields> = (
  candidates: readonly Candidate<Fields>[],
) => Promise<readonly (readonly Issue[])[]>;

/** The rules of a resource beyond those of its fields. */
export interface RecordRules<Fields> {
  /** Absent if the entity has no references. */
  readonly references?: ReferenceValidator<Fields> | undefined;
  /** Absent if fields are stored as sent. */
  readonly normalize?: ((fields: Fields) => Fields) | undefined;
}

/** @returns for each candidate the fields to store, or an AppError `validation_failed` with every issue */
export async function validateAll<Fields>(
  { references, normalize }: RecordRules<Fields>,
  candidates: readonly Candidate<Fields>[],
): Promise<readonly (Fields | AppError)[]> {
  const missing = await references?.(candidates);
  return candidates.map(({ draft }, at) => {
    const issues = missing?.[at]?.length ? [...draft.issues, ...missing[at]] : draft.issues;
    if (issues.length > 0) return validationFailed(issues);
    const fields = draft.fields as Fields;
    return normalize ? normalize(fields) : fields;
  });
}

/** Returns an AppError `validation_failed` with the first of the issues; see {@link MAX_ISSUES}. */
export function validationFailed(issues: readonly Issue[]): AppError {
  return new AppError(
    'validation_failed',
    'The request body is invalid; see details.',
    issues.slice(0, MAX_ISSUES),
  );
}

/** Returns which records exist. */
export type Referenced = Pick<Repository<unknown>, 'findExistingIds'>;

/**
 * Makes a validator for all references of an entity. It queries each resource once for all candidates. It does not
 * check a reference that the previous record already has: the record that it names may be deleted.
 * @param resources by the names of their tables
 * @returns undefined if the entity has no references
 * @throws Error if a field names a missing resource
 */
export function referenceValidator(
  table: FieldTable,
  resources: Readonly<Record<string, Referenced>>,
): ReferenceValidator<unknown> | undefined {
  const finders = referenceFinders(table).map((finder) => {
    const resource = resources[finder.to];
    if (!resource) throw new Error(`A field names the resource ${finder.to}, which does not exist.`);
    return { finder, resource };
  });
  if (finders.length === 0) return undefined;
  return async (candidates) => {
    const missing = await Promise.all(
      finders.map(({ finder, resource }) => missingOf(table, finder, candidates, resource)),
    );
    return candidates.map((_, at) => missing.flatMap((issues) => issues[at] ?? []));
  };
}

async function missingOf(
  table: FieldTable,
  finder: ReferenceFinder,
  candidates: readonly Candidate<unknown>[],
  resource: Referenced,
): Promise<Issue[][]> {
  const added = candidates.map((candidate) => addedReferences(finder, candidate));
  const ids = [...new Set(added.flat().map(({ id }) => id))];
  const existing: ReadonlySet<Id> = ids.length === 0 ? new Set() : await resource.findExistingIds(ids);
  return added.map((references) =>
    references
      .filter(({ id }) => !existing.has(id))
      .map(({ path }) => issueIn(table, { code: 'reference_not_found', path })),
  );
}

function addedReferences(
  finder: ReferenceFinder,
  { draft, previous }: Candidate<unknown>,
): readonly Reference[] {
  const known = new Set(previous && finder.find(previous.fields).map(({ id }) => id));
  return finder.find(draft.fields).filter(({ id }) => !known.has(id));
}
