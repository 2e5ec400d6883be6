import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import { newDraft } from '#src/application/records/record-format.js';
import { composeWith } from '#src/composition/application.js';
import { memoryRateLimits } from '#src/composition/rate-limits.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { loadSettings } from '#src/config/settings.js';
import type { Issue } from '#src/domain/errors.js';
import { DocumentedResponses } from './documented-responses.js';

/** By settings, and by document: many settings lead to the same document. */
const cache = new Map<string, DocumentedResponses>();

/** The settings that change no described response: those of the store, of the process and of the rate limit. */
const UNDESCRIBED =
  /^(?:STORE$|SQLITE_|POSTGRESQL_|MONGODB_|REDIS_|RATE_LIMIT|BOOTSTRAP_|SHUTDOWN_|LOG_|WORKERS$|PORT$|MANAGEMENT_PORT$)/;

/** Returns the OpenAPI document of a service with these settings. */
export function documentOf(environment: Record<string, string>): object {
  return composeWith({
    settings: loadSettings({ ...environment, LOG_LEVEL: 'silent' }),
    makeParts: memoryStorage,
    makeRateLimits: memoryRateLimits,
  }).openApiDocument;
}

/** Returns the responses that the document of a service with these settings describes. */
export function documentedResponses(environment: Record<string, string>): DocumentedResponses {
  const described = Object.entries(environment).filter(([name]) => !UNDESCRIBED.test(name));
  const settings = { ...Object.fromEntries(described), PUBLIC_URL: 'https://catalogue.test', DATA_DIR: 'data' };
  return cached(JSON.stringify(settings), () => {
    const document = documentOf(settings);
    return cached(JSON.stringify(document), () => new DocumentedResponses(document));
  });
}

function cached(key: string, make: () => DocumentedResponses): DocumentedResponses {
  const value = cache.get(key) ?? make();
  cache.set(key, value);
  return value;
}

/** The issues of a body that creates a record. */
export function issuesOfNew(resource: keyof typeof DEFINITIONS, body: object): readonly Issue[] {
  return newDraft(DEFINITIONS[resource] as never, body).issues;
}
