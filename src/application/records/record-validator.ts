import { AppError, fieldIssue, type Issue, MAX_ISSUES } from '../../domain/errors.js';
import type { FieldTable } from '../../domain/fields.js';
import type { Id, Versioned } from '../../domain/record.js';
import {
  type Reference,
  type ReferenceFinder,
  type ReferredBy,
  referenceFinders,
} from '../../domain/references.js';
import type { Repository } from '../ports/repository.js';
import type { Draft } from './record-view.js';

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

/** What differs between resources when a record is validated. */
export interface RecordRules<Fields> {
  /** Absent if the resource names no other. */
  readonly references?: ReferenceValidator<Fields> | undefined;
  /** Absent if fields are stored as they were sent. */
  readonly normalize?: ((fields: Fields) => Fields) | undefined;
}

/** @returns for each candidate the fields to store, or a CatalogueError `validation_failed` with every issue */
export async function validateAll<Fields>(
  { references, normalize }: RecordRules<Fields>,
  candidates: readonly Candidate<Fields>[],
): Promise<readonly (Fields | AppError)[]> {
  const missing = await references?.(candidates);
  return candidates.map(({ draft }, at) => {
    const issues = [...draft.issues, ...(missing?.[at] ?? [])];
    if (issues.length > 0) return validationFailed(issues);
    const fields = draft.fields as Fields;
    return normalize ? normalize(fields) : fields;
  });
}

/** Makes a validator for drafts of new records. */
export function draftValidator<Fields>(rules: RecordRules<Fields>) {
  return (drafts: readonly Draft<Fields>[]) =>
    validateAll(
      rules,
      drafts.map((draft) => ({ draft })),
    );
}

function validationFailed(issues: readonly Issue[]): AppError {
  return new AppError(
    'validation_failed',
    'The body is not what this resource takes; see details.',
    issues.slice(0, MAX_ISSUES),
  );
}

/** Finds out which records exist. */
export type Referenced = Pick<Repository<unknown>, 'findExistingIds'>;

/** The resources that the references of an entity name, by the names that the fields have for them. */
export type ReferredResources<Table extends FieldTable> = Readonly<
  Record<ReferredBy<Table[keyof Table]>, Referenced>
>;

/**
 * Makes a validator for all references of an entity. Each resource is asked once for all candidates. A reference that
 * the previous record has already is not checked: the record that it names may be gone.
 * @throws Error if a resource is missing, which does not compile either
 */
export function referenceValidator<Table extends FieldTable>(
  table: Table,
  resources: ReferredResources<Table>,
): ReferenceValidator<unknown> {
  const byName: Readonly<Record<string, Referenced | undefined>> = resources;
  const finders = referenceFinders(table).map((finder) => {
    const resource = byName[finder.to];
    if (!resource) throw new Error(`A field names the resource ${finder.to}, which is unknown here.`);
    return { finder, resource };
  });
  return async (candidates) => {
    const missing = await Promise.all(
      finders.map(({ finder, resource }) => missingOf(finder, candidates, resource)),
    );
    return candidates.map((_, at) => missing.flatMap((issues) => issues[at] ?? []));
  };
}

async function missingOf(
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
      .map(({ path }) => fieldIssue('reference_not_found', path)),
  );
}

function addedReferences(
  finder: ReferenceFinder,
  { draft, previous }: Candidate<unknown>,
): readonly Reference[] {
  const known = new Set(previous && finder.find(previous.fields).map(({ id }) => id));
  return finder.find(draft.fields).filter(({ id }) => !known.has(id));
}
